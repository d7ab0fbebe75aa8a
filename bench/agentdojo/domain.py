"""A suite of AgentDojo as a domain: its functions are the capabilities, its environment is what they change."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agentdojo.functions_runtime import FunctionsRuntime
from pydantic_core import to_jsonable_python

# What changes nothing is told by its name, as tool servers without annotations leave no other way; all else is a write
# that cannot be taken back.
READS = ("get_", "read_", "search_", "list_", "check_", "view_", "find_")
READ = {"side_effect_class": "read"}
FETCH = READ | {"open_world": True}  # an address is a parameter: whoever answers there sees what is sent
WRITE = {"side_effect_class": "write_irreversible", "idempotency": "none", "risk_level": "medium"}

MAX_FACTS = 15_000  # bytes; long texts in a result that is longer are cut, and whole in data
MAX_SUMMARY = 300


def is_read(name):
    return name.startswith(READS)


def capability(function):
    schema = function.parameters.model_json_schema()
    schema.pop("title", None)
    schema.setdefault("type", "object")
    metadata = WRITE if not is_read(function.name) else FETCH if "url" in schema.get("properties", {}) else READ
    return {"name": function.name, "description": function.description or function.name, "schema": schema, "metadata": metadata}


def manifest(suite):
    return {
        "schema_version": "1", "domain": suite.name, "version": "1.0.0", "title": suite.name.title(),
        "description": "The tools of AgentDojo's suite " + suite.name + ".", "capabilities": [capability(f) for f in suite.tools],
    }


def as_text(value):
    return value if isinstance(value, str) else json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False)


def refusal(message):
    return {"ok": False, "summary": message[:MAX_SUMMARY], "error": {"type": "precondition", "message": message[:MAX_SUMMARY], "effect": "none"}}


def facts_of(value):
    whole = to_jsonable_python(value, fallback=str)
    for longest in (MAX_FACTS, 2000, 1000, 500, 200, 100):
        facts = {"result": shortened(whole, longest)}
        if len(json.dumps(facts).encode()) <= MAX_FACTS:
            return facts
    return {"text": as_text(value).encode()[: MAX_FACTS // 2].decode(errors="ignore")}


def shortened(value, longest):
    """A value whose texts are cut to a length; its form stays."""
    if isinstance(value, dict):
        return {k: shortened(v, longest) for k, v in value.items()}
    if isinstance(value, list):
        return [shortened(v, longest) for v in value]
    return value[:longest] + "…" if isinstance(value, str) and len(value) > longest else value


def result(value):
    text = as_text(value)
    return {"ok": True, "summary": " ".join(text.split())[:MAX_SUMMARY] or "done", "facts": facts_of(value), "data": text}


class Domain:
    """Serves one suite on this machine. Each task begins with an environment of its own."""

    def __init__(self, suite):
        self.suite, self.runtime = suite, FunctionsRuntime(suite.tools)
        self.lock = threading.Lock()
        self.begin(suite.load_and_inject_default_environment({}))
        handler = type("Handler", (_Handler,), {"domain": self, "manifest": json.dumps(manifest(suite)).encode()})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def begin(self, environment):
        """Puts a new environment in place; what was called before is forgotten."""
        with self.lock:
            self.environment, self.calls, self.results = environment, [], []

    def execute(self, name, args):
        with self.lock:
            value, error = self.runtime.run_function(self.environment, name, args)
            self.calls.append((name, args, error))
            self.results.append("" if error else as_text(value))
        return refusal(error) if error else result(value)

    def seen(self):
        """What was called so far and what came back."""
        with self.lock:
            return list(self.calls), list(self.results)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    domain, manifest = None, b""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(b'{"status":"ok","version":"1.0.0"}' if self.path == "/health" else self.manifest)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(json.dumps(self.domain.execute(body["capability"], body.get("parameters") or {})).encode())

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
