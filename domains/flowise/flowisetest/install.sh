#!/usr/bin/env bash
# Installs a real Flowise 3.1.1 from npm into a cache and prints its folder.
#   install.sh [--key]     --key prints the cache key only (CI keys its cache with it)
#
# The folder is $FLOWISE_CACHE/<key>; the key is a hash of everything that decides what gets installed: package.json,
# package-lock.json, this script, the version of node and the platform. A folder counts only once its "complete" file is
# written, which is the last thing that happens, so an install that was killed is taken up again and never used half.
# Needs node 20 with its headers, npm, gcc, g++, make, python3, flock. 2.5 GB; 3 to 12 minutes; no time when it is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${FLOWISE_CACHE:-$HOME/.cache/manifold/flowise}

inputs=("$here/package.json" "$here/install.sh")
[ ! -e "$here/package-lock.json" ] || inputs+=("$here/package-lock.json")
key=$({ cat "${inputs[@]}"; node -p 'process.version + process.platform + process.arch'; } | sha256sum | cut -c1-16)
[ "${1:-}" != --key ] || { echo "$key"; exit 0; }

dir=$cache/$key
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }
mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9 # another install of the same key is waited for, not raced
[ ! -e "$dir/complete" ] || { echo "$dir"; exit 0; }

cp "$here/package.json" "$dir/"
[ ! -e "$here/package-lock.json" ] || cp "$here/package-lock.json" "$dir/"
cd "$dir"
export PUPPETEER_SKIP_DOWNLOAD=1 PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
# npm ci refuses this lock (optional msgpackr-extract platform packages); npm i takes it. The peers of 3.1.1 contradict
# each other, hence --legacy-peer-deps and the overrides in package.json.
npm i --ignore-scripts --legacy-peer-deps --no-audit --no-fund --prefer-offline --loglevel=error >&2
# sqlite3 is the only native module that the tests need.
if [ ! -e node_modules/sqlite3/build/Release/node_sqlite3.node ]; then
  gyp=$(npm root -g 2>/dev/null)/npm/node_modules/node-gyp/bin/node-gyp.js
  prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  (cd node_modules/sqlite3 && node "$gyp" rebuild --nodedir="$prefix" -j 2) >&2
fi
test "$(node -p "require('./node_modules/flowise/package.json').version")" = 3.1.1
touch complete
echo "$dir"
