// What the official OpenAI client for Node, the AI SDK and LangChain make of a
// running server. It is run by clients_test.go.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { ChatOpenAI } from "@langchain/openai";

const baseURL = process.env.MANIFOLD_BASE, apiKey = process.env.MANIFOLD_KEY;
const read = [{ role: "user", content: "what is the stock price of Apple" }];
const write = [{ role: "user", content: "set an alert for AAPL above 250" }];
const model = "manifold";
const client = new OpenAI({ baseURL, apiKey });

async function runs() {
  const res = await fetch(baseURL + "/runs", { headers: { Authorization: "Bearer " + apiKey } });
  return (await res.json()).items;
}

const tests = {
  async "openai: models"() {
    const ids = [];
    for await (const m of client.models.list()) ids.push(m.id);
    assert.deepEqual(ids, ["manifold", "manifold-finance"]);
    assert.equal((await client.models.retrieve("manifold-finance")).id, "manifold-finance");
  },
  async "openai: in one piece"() {
    const out = await client.chat.completions.create({ model, messages: read });
    assert.match(out.choices[0].message.content, /AAPL/);
    assert.equal(out.choices[0].finish_reason, "stop");
    assert.equal(typeof out.usage.total_tokens, "number");
  },
  async "openai: streamed"() {
    let text = "", usage = null;
    const stream = await client.chat.completions.create({ model, messages: read, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta?.content ?? "";
      usage = chunk.usage ?? usage;
    }
    assert.match(text, /AAPL/);
    assert.ok(usage);
  },
  async "openai: streamed, as Open WebUI sees it"() {
    const stream = client.chat.completions.stream({ model, messages: read }, { headers: { "X-OpenWebUI-Chat-Id": "npm-1" } });
    const out = await stream.finalChatCompletion();
    assert.match(out.choices[0].message.content, /AAPL/);
  },
  async "openai: a write, approved in the chat"() {
    const messages = [...write];
    const plan = await client.chat.completions.create({ model, messages });
    const text = plan.choices[0].message.content;
    assert.match(text, /Reply `approve [2-9A-Z]{5}`/);
    messages.push({ role: "assistant", content: text }, { role: "user", content: "approve" });
    const before = (await runs()).length;
    const done = await client.chat.completions.create({ model, messages });
    assert.match(done.choices[0].message.content, /is approved/);
    assert.match(done.choices[0].message.content, /verified: read back/);
    assert.equal((await runs()).length, before, "an approval is no new run");
  },
  async "openai: a repeat by itself is the same run"() {
    const before = (await runs()).length;
    let tries = 0;
    const flaky = new OpenAI({ baseURL, apiKey, fetch: async (url, init) => {
      const res = await fetch(url, init);
      if (tries++ > 0) return res;
      await res.text(); // it was done, and the answer is lost on the way
      return new Response("{}", { status: 503, headers: { "content-type": "application/json" } });
    } });
    const out = await flaky.chat.completions.create({ model, messages: read });
    assert.match(out.choices[0].message.content, /AAPL/);
    assert.equal(tries, 2);
    assert.equal((await runs()).length, before + 1);
  },
  async "openai: abort"() {
    const stream = await client.chat.completions.create({ model, messages: read, stream: true });
    for await (const chunk of stream) {
      assert.equal(chunk.choices[0].delta.role, "assistant");
      stream.controller.abort();
      break;
    }
    assert.match((await client.chat.completions.create({ model, messages: read })).choices[0].message.content, /AAPL/);
  },
  async "openai: errors"() {
    await assert.rejects(new OpenAI({ baseURL, apiKey: "mfk_wrong" }).models.list(), OpenAI.AuthenticationError);
    await assert.rejects(client.chat.completions.create({ model: "gpt-4", messages: read }), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ model, messages: [] }), OpenAI.BadRequestError);
    await assert.rejects(client.embeddings.create({ model, input: "x" }), /unsupported|nothing/);
  },
  async "AI SDK"() {
    const manifold = createOpenAICompatible({ name: "manifold", baseURL, apiKey });
    assert.match((await generateText({ model: manifold(model), messages: read })).text, /AAPL/);
    const stream = streamText({ model: manifold(model), messages: read });
    let text = "", reasoning = "";
    for await (const part of stream.fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "reasoning-delta") reasoning += part.text;
      assert.notEqual(part.type, "error", JSON.stringify(part));
    }
    assert.match(text, /AAPL/);
    assert.ok(reasoning, "the progress is shown as reasoning");
  },
  async "LangChain"() {
    const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL } });
    assert.match((await chat.invoke("what is the stock price of Apple")).content, /AAPL/);
    let text = "";
    for await (const chunk of await chat.stream("what is the stock price of Apple")) text += chunk.content;
    assert.match(text, /AAPL/);
  },
};

for (const [name, test] of Object.entries(tests)) {
  const begun = performance.now();
  await test();
  console.log(`ok ${name} (${Math.round(performance.now() - begun)} ms)`);
}
