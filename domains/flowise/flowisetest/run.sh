#!/usr/bin/env bash
# Runs a command with a real Flowise beside it.
#   run.sh COMMAND...
#
# Installs Flowise where it is not installed yet, starts it on a free port with an empty data folder, makes an API key, and
# tells the command where it is: FLOWISE_URL, FLOWISE_KEY, FLOWISE_COOKIE (a session, which the server checks much faster than
# a key), FLOWISE_DIR (the install, with its marketplaces), FLOWISE_OPENAI (where its OpenAI nodes look for the API unless they
# name an address: a test may listen there). Where FLOWISE_URL and FLOWISE_KEY are set already, that server is
# used and left running.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -gt 0 ] || { echo 'usage: run.sh COMMAND...' >&2; exit 2; }

FLOWISE_DIR=${FLOWISE_DIR:-$("$here/install.sh" | tail -n 1)}
export FLOWISE_DIR
if [ -n "${FLOWISE_URL:-}" ] && [ -n "${FLOWISE_KEY:-}" ]; then
  exec "$@"
fi

data=$(mktemp -d)
pid=
stop() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; }
  rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT TERM

free() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'; }
port=$(free)
export FLOWISE_URL=http://127.0.0.1:$port
FLOWISE_OPENAI=127.0.0.1:$(free)
export FLOWISE_OPENAI
OPENAI_BASE_URL=http://$FLOWISE_OPENAI/v1 "$here/start.sh" "$FLOWISE_DIR" "$port" "$data" >"$data/out.log" 2>&1 &
pid=$!
deadline=$((SECONDS + 180))
until [ "$(curl -s --max-time 5 "$FLOWISE_URL/api/v1/ping" || true)" = pong ]; do
  if [ $SECONDS -ge $deadline ] || ! kill -0 "$pid" 2>/dev/null; then
    echo "flowise did not start:" >&2
    tail -n 50 "$data/out.log" >&2
    exit 1
  fi
  sleep 1
done
FLOWISE_KEY=$("$here/bootstrap.sh" "$FLOWISE_URL" "$data/cookies")
FLOWISE_COOKIE=$(awk -F '\t' 'NF == 7 { printf "%s%s=%s", sep, $6, $7; sep = "; " }' "$data/cookies")
export FLOWISE_KEY FLOWISE_COOKIE
echo "flowise $(curl -s "$FLOWISE_URL/api/v1/version") at $FLOWISE_URL" >&2
"$@"
