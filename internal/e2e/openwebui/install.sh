#!/usr/bin/env bash
# Installs a real Open WebUI from PyPI into a cache and prints its folder.
#   install.sh [--key]     --key prints the cache key only (CI keys its cache with it)
#
# The folder is $OPENWEBUI_CACHE/<key>; the key is a hash of everything that decides what gets installed: requirements.txt,
# this script, the version of Python and the platform. A folder counts only once its "complete" file is written, which is
# the last thing that happens, so an install that was killed is taken up again and never used half.
# Needs Python 3.11 or 3.12 with venv, and flock. 0.7 GB; one to three minutes; no time when it is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${OPENWEBUI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/manifold/openwebui}

python=
for candidate in ${PYTHON:-} python3.11 python3.12 python3; do
  if "$candidate" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || { echo "install.sh: Open WebUI needs Python 3.11 or 3.12; set PYTHON to one" >&2; exit 1; }

key=$({ cat "$here/requirements.txt" "$here/install.sh"; "$python" -c 'import platform, sys; print(sys.version, sys.platform, platform.machine())'; } | sha256sum | cut -c1-16)
[ "${1:-}" != --key ] || { echo "$key"; exit 0; }

dir=$cache/$key
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }
mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9 # another install of the same key is waited for, not raced
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }

"$python" -m venv --clear "$dir/python" >&2
"$dir/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --prefer-binary -r "$here/requirements.txt" >&2
touch "$dir/complete"
echo "$dir"
