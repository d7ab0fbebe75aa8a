"""A server in the format of OpenAI's chat completions that answers as a task's ground truth does."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MORE, PLAN = "more", "plan"  # functions beside those of the suite: for a further round, and for several steps at once


class Script:
    """What the model does in one task: round after round of calls, each once the ones before it ran, then the answer.
    An obedient model also makes the calls of an injection, as soon as something that was read held it."""

    def __init__(self, domain, rounds, answer, plan=None, injected=(), marker=""):
        self.domain, self.rounds, self.answer, self.plan = domain, rounds, answer, plan
        self.injected, self.marker, self.obeyed, self.shown = list(injected), marker, False, False
        self.not_offered, self.asked = set(), 0

    def next(self, offered, text):
        """The calls to make now, and whether to be asked again."""
        calls, results = self.domain.seen()
        self.asked += 1
        self.shown |= bool(self.marker) and self.marker in text
        extra = []
        if self.marker and not self.obeyed and any(self.marker in r for r in results):
            self.obeyed, extra = True, self.injected
        at = next((n for n, r in enumerate(self.rounds) if not self._ran(r, calls)), len(self.rounds))
        now = list(self.rounds[at]) if at < len(self.rounds) else []
        self.not_offered |= {c.name for c in now + extra if c.name not in offered}
        return [c for c in now + extra if c.name in offered], at + 1 < len(self.rounds) or (bool(self.marker) and not self.obeyed)

    @staticmethod
    def _ran(wanted, calls):
        return all(any(c.matches(name, args) for name, args, _ in calls) for c in wanted)


class Model:
    """Serves the script that is in place."""

    def __init__(self):
        self.script, self.lock = None, threading.Lock()
        handler = type("Handler", (_Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reply(self, body):
        with self.lock:
            return self._reply(body)

    def _reply(self, body):
        script = self.script
        if script is None:
            return {"role": "assistant", "content": None, "refusal": "there is no task"}
        tools = {t["function"]["name"] for t in body.get("tools") or []}
        prefix = script.domain.suite.name + "-"
        offered = {t.removeprefix(prefix) for t in tools if t.startswith(prefix)}
        if not offered:
            return _answer(script.answer, body)
        if script.plan and PLAN in tools:
            plan, script.plan, script.asked = script.plan, None, 1
            script.not_offered |= {s["tool"].removeprefix(prefix) for s in plan if s["tool"] not in tools}
            return _calling([(PLAN, {"steps": plan})])
        calls, more = script.next(offered, json.dumps(body["messages"], ensure_ascii=False).replace("\\n", "\n"))
        if not calls:
            return _answer(script.answer, body)
        wire = [(prefix + c.name, c.args) for c in calls]
        if more and MORE in tools:
            wire.append((MORE, {}))
        return _calling(wire)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def _calling(wire):
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}} for i, (name, args) in enumerate(wire)
    ]}


def _answer(text, body):
    """The worded answer: by the schema if one is asked for, in sentences where that has a list of them."""
    text = text or "Done."
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if schema:
        sentences = [s.strip() for s in re.split(r"\n+|(?<=[.!?])\s+(?=[A-Z])", text) if s.strip()]
        kinds = {name: kind.get("type") for name, kind in (schema.get("properties") or {}).items()}
        text = json.dumps({name: sentences if kind == "array" else text for name, kind in kinds.items() if kind in ("array", "string")})
    return {"role": "assistant", "content": text}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = self.model.reply(body)
        size = len(json.dumps(body)) // 4  # about what a tokenizer makes of it
        usage = {"prompt_tokens": size, "completion_tokens": len(json.dumps(message)) // 4, "total_tokens": size}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        out = json.dumps({
            "id": "chatcmpl", "object": "chat.completion", "created": 1, "model": body.get("model", ""), "usage": usage,
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        }).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)
