// The official MCP client of TypeScript against /mcp: reads, a write that waits, resources, prompts.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.env.MANIFOLD_BASE.replace(/\/v1$/, "/mcp"));
const headers = { Authorization: `Bearer ${process.env.MANIFOLD_KEY}` };

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));

const { tools } = await client.listTools();
const names = tools.map((t) => t.name);
for (const want of ["ask", "run_start", "run_status", "run_result", "finance__get_stock_price"]) assert(names.includes(want), want);
assert(!names.includes("finance__set_price_alert"));
assert(tools.find((t) => t.name === "finance__get_stock_price").annotations.readOnlyHint);

const read = await client.callTool({ name: "finance__get_stock_price", arguments: { symbol: "AAPL" } });
assert(!read.isError && read.content[0].text.includes("AAPL"), JSON.stringify(read));
assert.equal(read.structuredContent.status, "completed");

const write = await client.callTool({ name: "run_start", arguments: { goal: "set a price alert for AAPL above 500" } });
assert.equal(write.structuredContent.status, "awaiting_approval", JSON.stringify(write));
assert.equal(write.structuredContent.gates.length, 1);

const run = await client.readResource({ uri: `manifold://runs/${read.structuredContent.run_id}` });
assert.equal(JSON.parse(run.contents[0].text).state, "completed");
const prompt = await client.getPrompt({ name: "finance__get_stock_price" });
assert.match(prompt.messages[0].content.text, /Ask Manifold/);
await client.close();

await assert.rejects(new Client({ name: "test", version: "1" }).connect(new StreamableHTTPClientTransport(url)));
console.log("ok mcp, typescript");
