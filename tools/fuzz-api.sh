#!/bin/sh
# Asks a server of its own what openapi.yaml says that may be asked, and at each
# place what it says may not, with all checks of schemathesis. What it finds it
# prints with the request that shows it. PHASES=fuzzing EXAMPLES=20 asks at random;
# MINUTES=10 begins anew, with another seed, until as much time is over. What else
# is given goes to schemathesis, such as --include-operation-id NAME.
set -eu

go=${GO:-go}
python=${PYTHON:-python3}
version=4.24.3
validator=0.49.1

tools=${XDG_CACHE_HOME:-$HOME/.cache}/manifold/schemathesis-$version-$validator
if [ ! -x "$tools/bin/schemathesis" ]; then
	echo "fuzz-api: installing schemathesis $version"
	"$python" -m venv "$tools"
	# Later versions of the two lack what schemathesis asks of them.
	"$tools/bin/pip" install -q "schemathesis==$version" "hypothesis==6.140.3" "jsonschema_rs==$validator"
fi

dir=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true # it writes until it has ended
	fi
	rm -rf "$dir"
}
trap stop EXIT INT TERM

echo "{\"domains\":[]}" >"$dir/bootstrap.json"
"$go" build -trimpath -o "$dir/manifold" ./cmd/manifold
"$dir/manifold" serve --addr 127.0.0.1:0 --data "$dir/data" --embeddings off --bootstrap "$dir/bootstrap.json" \
	--requests-per-minute 10000000 --sessions-per-minute 1000000 >"$dir/out" 2>"$dir/log" &
server=$!
url=
for _ in $(seq 100); do
	url=$(sed -n 's/.*serving at \(http[^ ]*\).*/\1/p' "$dir/out" | head -n 1)
	[ -z "$url" ] || break
	sleep 0.1
done
if [ -z "$url" ]; then
	cat "$dir/out" "$dir/log" >&2
	exit 1
fi

# Streams have no end that could be waited for; other tests read them.
root=$(pwd)
MANIFOLD_KEY=$(cat "$dir/data/admin.key")
export MANIFOLD_KEY
export SCHEMATHESIS_HOOKS="$root/tools/fuzz_api_hooks.py"
cd "$dir" # where it keeps what it has found
ask() {
	"$tools/bin/schemathesis" --no-color --config-file "$root/tools/schemathesis.toml" \
		run "$root/internal/httpapi/openapi.yaml" --url "$url" \
		--checks all --suppress-health-check all --exclude-operation-id streamSession --exclude-operation-id streamRun \
		--phases "${PHASES:-examples,coverage}" ${EXAMPLES:+--max-examples "$EXAMPLES"} --continue-on-failure --request-timeout 30 "$@"
}
end=$(($(date +%s) + ${MINUTES:-0} * 60))
rounds=0
while [ "$rounds" = 0 ] || [ "$(date +%s)" -lt "$end" ]; do
	ask "$@"
	rounds=$((rounds + 1))
done
echo "fuzz-api: clean, $rounds times"
