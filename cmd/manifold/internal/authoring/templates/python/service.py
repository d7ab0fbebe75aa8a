"""The domain {{domain}} for Manifold: python3 service.py [port]."""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MANIFEST = (Path(__file__).parent / "manifest.json").read_bytes()
ETAG = '"%s"' % hashlib.sha256(MANIFEST).hexdigest()
CAPABILITIES = {c["name"]: c for c in json.loads(MANIFEST)["capabilities"]}

# What the domain knows. Put your own system here.
TASKS = {"task-1": {"title": "welcome", "key": ""}}
# What was done, by idempotency key: (parameters, result). Keep it where it
# outlives the process, as long as your writes do.
DONE = {}
LOCK = threading.Lock()


def done(summary, **facts):
    return {"ok": True, "summary": summary, "facts": facts}


def refused(kind, message):
    return {"ok": False, "summary": message, "error": {"type": kind, "message": message, "effect": "none"}}


def list_tasks(p, key):
    words = p.get("words", "").lower()
    found = [{"task_id": i, "title": t["title"]} for i, t in TASKS.items() if words in t["title"].lower()]
    return done("%d tasks" % len(found), tasks=found)


def find_task(p, key):
    for i, t in TASKS.items():
        if i == p.get("task_id") or p.get("key") and t["key"] == p["key"]:
            return done(t["title"], found=True, applied=True, task_id=i, title=t["title"])
    return done("there is no such task", found=False, applied=False)


def add_task(p, key):
    task_id = "task-%d" % (len(DONE) + 1000)
    TASKS[task_id] = {"title": p["title"], "key": key}
    return done("added: " + p["title"], task_id=task_id, title=p["title"])


def remove_task(p, key):
    TASKS.pop(p["task_id"], None)
    return done("removed", task_id=p["task_id"])


ACTIONS = {"list_tasks": list_tasks, "find_task": find_task, "add_task": add_task, "remove_task": remove_task}


def fault(schema, p):
    """As much of JSON Schema as the manifest uses: what is missing, unknown or no text."""
    known = schema["properties"]
    if not isinstance(p, dict) or set(p) - set(known):
        return "unknown parameters"
    if missing := set(schema.get("required", [])) - set(p):
        return "missing: " + ", ".join(sorted(missing))
    for name, value in p.items():
        if not isinstance(value, str) or not 1 <= len(value) <= known[name].get("maxLength", 200):
            return name + " has the wrong form"
    return None


def execute(call, key):
    name, p, context = call.get("capability"), call.get("parameters") or {}, call.get("context") or {}
    if name not in CAPABILITIES:
        return 404, refused("not_found", "there is no capability %s" % name)
    if context.get("operation"):
        return 410, refused("not_found", "nothing is done in the background")
    if why := fault(CAPABILITIES[name]["schema"], p):
        return 400, refused("invalid_parameters", why)
    writes = CAPABILITIES[name]["metadata"]["side_effect_class"].startswith("write")
    with LOCK:  # one call at a time: a repeat waits for the first
        if not writes:
            return 200, ACTIONS[name](p, key)
        if context.get("dry_run"):
            return 200, refused("precondition", "this cannot be tried without doing it")
        key = key or context.get("idempotency_key")
        if not key:
            return 400, refused("invalid_parameters", "an idempotency key is needed")
        said = name + json.dumps(p, sort_keys=True)
        if key not in DONE:
            DONE[key] = (said, ACTIONS[name](p, key))
        if DONE[key][0] != said:
            return 409, refused("conflict", "the key was used with other parameters")
        return 200, DONE[key][1]


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            self.answer(200, b'{"status": "ok", "version": "0.1.0"}')
        elif self.path != "/manifest":
            self.answer(404)
        elif self.headers.get("If-None-Match") == ETAG:
            self.answer(304, ETag=ETAG)
        else:
            self.answer(200, MANIFEST, ETag=ETAG)

    def do_POST(self):
        try:
            call = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20)))
            status, result = execute(call, self.headers.get("Idempotency-Key"))
        except (ValueError, AttributeError):
            status, result = 400, refused("invalid_parameters", "no call in JSON")
        self.answer(status, json.dumps(result).encode())


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8099
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print("serving on http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
