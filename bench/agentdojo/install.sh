#!/usr/bin/env bash
# Installs AgentDojo from PyPI into a cache and prints the folder of its environment.
#   install.sh [--key]     --key prints the cache key only (CI keys its cache with it)
#
# The folder is $AGENTDOJO_CACHE/<key>; the key is a hash of everything that decides what gets installed. A folder counts
# only once its "complete" file is written, which is the last thing that happens, so an install that was killed is taken
# up again and never used half. Needs Python 3.11 or later with venv, and flock. 0.3 GB; a minute; no time when it is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${AGENTDOJO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/manifold/agentdojo}

python=${PYTHON:-python3}
"$python" -c 'import sys, venv; sys.exit(sys.version_info[:2] < (3, 11))' 2>/dev/null ||
  { echo "install.sh: AgentDojo needs Python 3.11 or later with venv; set PYTHON to one" >&2; exit 1; }

key=$({ cat "$here/requirements.txt" "$here/install.sh"; "$python" -c 'import platform, sys; print(sys.version, sys.platform, platform.machine())'; } | sha256sum | cut -c1-16)
[ "${1:-}" != --key ] || { echo "$key"; exit 0; }

dir=$cache/$key
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }
mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9 # another install of the same key is waited for, not raced
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }

"$python" -m venv --clear "$dir/python" >&2
"$dir/python/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt" >&2
touch "$dir/complete"
echo "$dir"
