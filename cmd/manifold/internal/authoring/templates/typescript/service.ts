// The domain {{domain}} for Manifold: node service.ts [port]; see README.md.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Params = Record<string, string>;
type Result = { ok: boolean; summary: string; facts?: object; error?: { type: string; message: string; effect: string } };
type Schema = { properties: Record<string, { maxLength?: number }>; required?: string[] };
type Capability = { name: string; schema: Schema; metadata: { side_effect_class: string } };

const manifest = readFileSync(new URL("manifest.json", import.meta.url));
const etag = `"${createHash("sha256").update(manifest).digest("hex")}"`;
const declared: Capability[] = JSON.parse(manifest.toString()).capabilities;
const capabilities = new Map(declared.map((c) => [c.name, c]));

// What the domain knows. Put your own system here.
const tasks = new Map([["task-1", { title: "welcome", key: "" }]]);
// What was done, by idempotency key. Keep it where it outlives the process, as
// long as your writes do.
const done = new Map<string, { said: string; result: Result }>();

const found = (summary: string, facts: object): Result => ({ ok: true, summary, facts });
const refused = (type: string, message: string): Result => ({ ok: false, summary: message, error: { type, message, effect: "none" } });

const actions: Record<string, (p: Params, key: string) => Result> = {
  list_tasks(p) {
    const words = (p.words ?? "").toLowerCase();
    const list = [...tasks].filter(([, t]) => t.title.toLowerCase().includes(words)).map(([task_id, t]) => ({ task_id, title: t.title }));
    return found(`${list.length} tasks`, { tasks: list });
  },
  find_task(p) {
    for (const [task_id, t] of tasks) {
      if (task_id === p.task_id || (p.key && t.key === p.key)) {
        return found(t.title, { found: true, applied: true, task_id, title: t.title });
      }
    }
    return found("there is no such task", { found: false, applied: false });
  },
  add_task(p, key) {
    const task_id = `task-${done.size + 1000}`;
    tasks.set(task_id, { title: p.title, key });
    return found(`added: ${p.title}`, { task_id, title: p.title });
  },
  remove_task(p) {
    tasks.delete(p.task_id);
    return found("removed", { task_id: p.task_id });
  },
};

// As much of JSON Schema as the manifest uses: what is missing, unknown or no text.
function fault(schema: Schema, p: Record<string, unknown>): string | undefined {
  for (const [name, value] of Object.entries(p)) {
    const property = schema.properties[name];
    if (!property) return "unknown parameters";
    if (typeof value !== "string" || value.length < 1 || value.length > (property.maxLength ?? 200)) return `${name} has the wrong form`;
  }
  const missing = (schema.required ?? []).filter((name) => !(name in p));
  return missing.length > 0 ? `missing: ${missing.join(", ")}` : undefined;
}

// Without await between looking for a key and keeping it, a repeat finds it.
function execute(call: any, header: string | undefined): [number, Result] {
  const { capability, parameters: p = {}, context = {} } = call ?? {};
  const c = capabilities.get(capability);
  if (!c) return [404, refused("not_found", `there is no capability ${capability}`)];
  if (context.operation) return [410, refused("not_found", "nothing is done in the background")];
  const why = p === null || typeof p !== "object" || Array.isArray(p) ? "unknown parameters" : fault(c.schema, p);
  if (why) return [400, refused("invalid_parameters", why)];
  if (!c.metadata.side_effect_class.startsWith("write")) return [200, actions[c.name](p, "")];
  if (context.dry_run) return [200, refused("precondition", "this cannot be tried without doing it")];
  const key = header ?? context.idempotency_key;
  if (!key) return [400, refused("invalid_parameters", "an idempotency key is needed")];
  const said = c.name + JSON.stringify(Object.entries(p).sort());
  const before = done.get(key) ?? { said, result: actions[c.name](p, key) };
  done.set(key, before);
  return before.said === said ? [200, before.result] : [409, refused("conflict", "the key was used with other parameters")];
}

function answer(res: ServerResponse, status: number, body: string | Buffer, headers: Record<string, string> = {}) {
  res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(body);
}

async function read(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req) {
    size += part.length;
    if (size > 1 << 20) throw new Error("too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

const server = createServer(async (req, res) => {
  if (req.method === "GET" && req.url === "/health") return answer(res, 200, '{"status":"ok","version":"0.1.0"}');
  if (req.method === "GET" && req.url === "/manifest") {
    if (req.headers["if-none-match"] === etag) return res.writeHead(304, { ETag: etag }).end();
    return answer(res, 200, manifest, { ETag: etag });
  }
  if (req.method !== "POST" || req.url !== "/execute") return answer(res, 404, "{}");
  try {
    const [status, result] = execute(JSON.parse(await read(req)), req.headers["idempotency-key"] as string | undefined);
    answer(res, status, JSON.stringify(result));
  } catch {
    answer(res, 400, JSON.stringify(refused("invalid_parameters", "no call in JSON")));
  }
});
server.listen(Number(process.argv[2] ?? 8099), "127.0.0.1", () => {
  console.log(`serving on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
