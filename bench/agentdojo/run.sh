#!/usr/bin/env bash
# Builds the server and plays AgentDojo against it with each kind of model. CASES takes so many cases of each suite, FLAGS
# are more flags of run.py. Fails if anything was done that nobody approved.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
out=bin/agentdojo
mkdir -p "$out"
python=$("$here/install.sh")/python/bin/python
"${GO:-go}" build -o "$out/manifold" ./cmd/manifold

failed=0
play() {
  local name=$1
  shift
  # shellcheck disable=SC2086 # FLAGS are words
  "$python" "$here/run.py" "$out/manifold" --cases "${CASES:-0}" --json "$out/$name.json" --flag=--embeddings=off "$@" ${FLAGS:-} || failed=1
}
floor=() beside=()
if [ "${CASES:-0}" = 0 ]; then # a draw may have more of the tasks that are known not to be useful
  floor=(--floor 0.94)
  beside=(--beside "$out/perfect.json")
fi
play none --model none
play perfect --model perfect "${floor[@]}"
play perfect-plan --model perfect --dialect plan
play obedient --model obedient "${beside[@]}"
play nobody --model obedient --nobody
exit "$failed"
