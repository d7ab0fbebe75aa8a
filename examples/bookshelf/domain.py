"""A Manifold domain in plain Python: python3 domain.py [port]. See README.md."""
import hashlib, json, re, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MANIFEST = (Path(__file__).parent / "manifest.json").read_bytes()
ETAG = '"%s"' % hashlib.sha256(MANIFEST).hexdigest()
CAPABILITIES = {c["name"]: c for c in json.loads(MANIFEST)["capabilities"]}
BOOKS = {"b-1": ("Middlemarch", "George Eliot"), "b-2": ("Os Maias", "Eça de Queirós"),
         "b-3": ("The Odyssey", "Homer"), "b-4": ("Emma", "Jane Austen")}
RESERVATIONS, DONE, LOCK = {}, {}, threading.Lock()  # by id; by key: (fingerprint, result)

def done(summary, **facts): return {"ok": True, "summary": summary, "facts": facts}
def refused(kind, message): return {"ok": False, "summary": message, "error": {"type": kind, "message": message, "effect": "none"}}

def search_books(p, key):
    found = [{"value": i, "label": "%s by %s" % b} for i, b in BOOKS.items() if p["query"].lower() in " ".join(b).lower()]
    return done("%d books found" % len(found), matches=found)

def find_reservation(p, key):
    r = next((r for r in RESERVATIONS.values() if r["reservation_id"] == p.get("reservation_id") or r["key"] == p.get("key")), None)
    facts = {k: r[k] for k in ("reservation_id", "book_id", "reader")} if r else {}
    return done("found" if r else "there is no such reservation", found=bool(r), applied=bool(r), **facts)

def reserve_book(p, key):
    if p["book_id"] not in BOOKS: return refused("not_found", "there is no book " + p["book_id"])
    r = {"reservation_id": "r-%d" % (len(RESERVATIONS) + 1), "key": key, **p}
    RESERVATIONS[r["reservation_id"]] = r
    return done("%s is reserved for %s" % (BOOKS[p["book_id"]][0], p["reader"]), reservation_id=r["reservation_id"], title=BOOKS[p["book_id"]][0])

def fault(schema, p):  # checks as much of JSON Schema as the manifest uses
    known = schema["properties"]
    if not isinstance(p, dict) or set(p) - set(known): return "unknown parameters"
    if missing := set(schema.get("required", [])) - set(p): return "missing: " + ", ".join(sorted(missing))
    for k, v in p.items():
        if not isinstance(v, str) or not 1 <= len(v) <= 200 or not re.search(known[k].get("pattern", ""), v): return k + " has the wrong form"

def execute(call, key):
    name, p, context = call.get("capability"), call.get("parameters") or {}, call.get("context") or {}
    if name not in CAPABILITIES: return 404, refused("not_found", "there is no capability %s" % name)
    if context.get("operation"): return 410, refused("not_found", "nothing is executed in the background")
    if why := fault(CAPABILITIES[name]["schema"], p): return 400, refused("invalid_parameters", why)
    with LOCK:  # one call at a time: a repeat waits for the first
        if name != "reserve_book": return 200, globals()[name](p, key)
        if context.get("dry_run"): return 200, refused("precondition", "a reservation cannot be tried")
        key, print_ = key or context.get("idempotency_key"), json.dumps(p, sort_keys=True)
        if not key: return 400, refused("invalid_parameters", "an idempotency key is needed")
        if DONE.setdefault(key, (print_, None))[0] != print_: return 409, refused("conflict", "the key was used with other parameters")
        DONE[key] = (print_, DONE[key][1] or reserve_book(p, key))
        return 200, DONE[key][1]

class Handler(BaseHTTPRequestHandler):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for k, v in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items(): self.send_header(k, v)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health": return self.answer(200, b'{"status": "ok", "version": "1.0.0"}')
        if self.path != "/manifest": return self.answer(404)
        if self.headers.get("If-None-Match") == ETAG: return self.answer(304, ETag=ETAG)
        self.answer(200, MANIFEST, ETag=ETAG)

    def do_POST(self):
        try:
            call = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20)))
            status, result = execute(call, self.headers.get("Idempotency-Key"))
        except (ValueError, AttributeError): status, result = 400, refused("invalid_parameters", "no call in JSON")
        self.answer(status, json.dumps(result).encode())

if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8093), Handler)
    print("serving on http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
