// A server that speaks the format of OpenAI's chat completions, with a language model behind it that is far too small:
//   node server.mjs MODEL.gguf      prints the address that it serves on, on 127.0.0.1
// What it answers is the model's own. One reply in four is free text, the others are held by a grammar to function calls
// (or to the schema that was asked for), as servers of large models do; else so small a model hardly ever calls anything.
import http from "node:http";
import {createHash} from "node:crypto";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [model_path] = process.argv.slice(2);
const installed = createRequire(model_path); // the packages stand beside the model
const {getLlama, LlamaCompletion} = await import(pathToFileURL(installed.resolve("node-llama-cpp")).href);

const context_size = 1536; // tokens, of the prompt and the answer
const most_out = 64;
const threads = 1; // several would spin for each other on a machine that is shared

const llama = await getLlama({build: "never", gpu: false, maxThreads: threads, logLevel: "error"});
const model = await llama.loadModel({modelPath: model_path});
const context = await model.createContext({contextSize: context_size, batchSize: 256, sequences: 1, threads});
const completion = new LlamaCompletion({contextSequence: context.getSequence()});

// schema_of is what the library's grammars take of a JSON schema. They demand every property that they know, so the
// optional ones are there or not by the draw.
function schema_of(schema, draw, depth = 0) {
    if (schema == null || typeof schema !== "object" || depth > 3) return {type: ["string", "number", "null"]};
    if (schema.const !== undefined && typeof schema.const !== "object") return {const: schema.const};
    const choices = (schema.enum ?? []).filter((value) => value === null || typeof value !== "object");
    if (choices.length > 0) return {enum: choices};
    const either = schema.oneOf ?? schema.anyOf;
    if (either?.length > 0) return {oneOf: either.map((one) => schema_of(one, draw, depth + 1))};
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type) {
    case "object": return object_of(schema, draw, depth);
    case "array": return {type: "array", items: schema_of(schema.items, draw, depth + 1), minItems: 1, maxItems: 2};
    case "integer": case "number": case "boolean": case "null": return {type: schema.type};
    default: return {type: "string", minLength: 1, maxLength: 40};
    }
}

function object_of(schema, draw, depth) {
    const properties = {};
    for (const [name, value] of Object.entries(schema.properties ?? {})) {
        if (schema.required?.includes(name) || draw() % 2 === 0) properties[name] = schema_of(value, draw, depth + 1);
    }
    return {type: "object", properties};
}

function calls_of(tools, draw) {
    const one = tools.map(({function: f}) => ({
        type: "object", properties: {name: {const: f.name}, arguments: schema_of(f.parameters ?? {type: "object"}, draw)},
    }));
    return {type: "object", properties: {tool_calls: {type: "array", items: {oneOf: one}, minItems: 1, maxItems: 2}}};
}

// prompt_of is the prompt in the model's own form, within what it can hold: tools by their names and parameters.
function prompt_of(body) {
    const text = (message) => typeof message.content === "string" ? message.content : (message.content ?? []).map((part) => part.text ?? "").join(" ");
    const system = body.messages.filter((m) => m.role === "system").map(text).join("\n").slice(0, 400);
    const tools = (body.tools ?? []).map(({function: f}) => `${f.name}(${Object.keys(f.parameters?.properties ?? {}).slice(0, 6).join(", ")})`).join("\n").slice(0, 1000);
    const turns = body.messages.filter((m) => m.role !== "system").slice(-4)
        .map((m) => `<start_of_turn>${m.role === "assistant" ? "model" : "user"}\n${text(m).slice(0, 600)}<end_of_turn>\n`).join("");
    return `<start_of_turn>user\n${system}\n${tools}<end_of_turn>\n${turns}<start_of_turn>model\n`;
}

// drawn gives numbers that the request decides: the same request is answered in the same manner.
function drawn(body) {
    let state = createHash("sha256").update(JSON.stringify([body.messages, body.tools?.length])).digest();
    return () => {
        state = createHash("sha256").update(state).digest();
        return state.readUInt32BE(0);
    };
}

async function complete(body, signal) {
    const draw = drawn(body), free = draw() % 4 === 0;
    const wanted = body.response_format?.json_schema?.schema;
    let schema;
    if (!free && wanted) schema = schema_of(wanted, draw);
    else if (!free && body.tools?.length > 0) schema = calls_of(body.tools, draw);
    const grammar = schema && await llama.createGrammarForJsonSchema(schema);
    const prompt = model.tokenize(prompt_of(body), true).slice(-(context_size - most_out - 8));
    const maxTokens = Math.min(body.max_completion_tokens ?? body.max_tokens ?? most_out, most_out);
    let out = 0;
    const {response, metadata} = await completion.generateCompletionWithMeta(prompt, {
        maxTokens, grammar, signal, temperature: body.temperature ?? 0.7, seed: draw(), onToken: (tokens) => { out += tokens.length; },
    });
    return {prompt: prompt.length, out, ...message_of(response, metadata.stopReason === "maxTokens", grammar && !wanted)};
}

// message_of takes a text for calls only where the grammar made it one; what was cut in the middle is passed on as it is.
function message_of(text, cut, called) {
    const finish_reason = cut ? "length" : "stop";
    if (!called) return {message: {role: "assistant", content: text}, finish_reason};
    let calls;
    try {
        calls = JSON.parse(text).tool_calls.map((c) => [c.name, JSON.stringify(c.arguments)]);
    } catch {
        const start = text.match(/"name":\s*"([^"]+)",\s*"arguments":\s*([^]*)$/);
        if (!start) return {message: {role: "assistant", content: text}, finish_reason};
        calls = [[start[1], start[2]]];
    }
    const tool_calls = calls.map(([name, args], i) => ({id: `call_${i}`, type: "function", function: {name, arguments: args}}));
    return {message: {role: "assistant", content: null, tool_calls}, finish_reason: cut ? "length" : "tool_calls"};
}

let last = Promise.resolve(); // one after the other
function queued(job) {
    const done = last.then(job);
    last = done.catch(() => {});
    return done;
}

async function answer(request, response) {
    const send = (status, value) => {
        response.writeHead(status, {"Content-Type": "application/json"});
        response.end(JSON.stringify(value));
    };
    if (request.method !== "POST" || !request.url.endsWith("/chat/completions")) return send(404, {error: {message: "not found"}});
    let body;
    try {
        const parts = [];
        for await (const part of request) parts.push(part);
        body = JSON.parse(Buffer.concat(parts).toString());
    } catch (error) {
        return send(400, {error: {message: String(error)}});
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
        const {message, finish_reason, prompt, out} = await queued(() => gone.signal.aborted ? Promise.reject(new Error("gone")) : complete(body, gone.signal));
        send(200, {
            id: "chatcmpl-small", object: "chat.completion", created: Math.floor(Date.now() / 1000), model: body.model ?? "small",
            choices: [{index: 0, message, finish_reason}], usage: {prompt_tokens: prompt, completion_tokens: out, total_tokens: prompt + out},
        });
    } catch (error) {
        if (!gone.signal.aborted) send(500, {error: {message: String(error)}});
    }
}

const server = http.createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
