#!/usr/bin/env bash
# Registers the first account where there is none, logs in, and prints an API key with every permission that a key may have.
#   bootstrap.sh http://127.0.0.1:PORT [JAR]     JAR is where the cookies of the session are kept, if they are wanted
set -euo pipefail
base=${1:?usage: bootstrap.sh URL [JAR]}/api/v1
jar=${2:-}
if [ -z "$jar" ]; then
  jar=$(mktemp)
  trap 'rm -f "$jar"' EXIT
fi
mail=admin@example.com
pass='Passw0rd!x'
name=test-$$-$RANDOM
json() { curl -sS -H 'content-type: application/json' "$@"; }
# 400 "You can only have one organization" where the account exists already.
json -o /dev/null -X POST "$base/account/register" -d "{\"user\":{\"name\":\"admin\",\"email\":\"$mail\",\"credential\":\"$pass\"}}"
json -f -o /dev/null -c "$jar" -X POST "$base/auth/login" -d "{\"email\":\"$mail\",\"password\":\"$pass\"}"
# Requests with a cookie are answered 401 without x-request-from.
perms=$(json -f -b "$jar" -H 'x-request-from: internal' "$base/auth/permissions/API_KEY" | node -e '
  const all = Object.values(JSON.parse(require("fs").readFileSync(0))).flat().map((p) => p.key)
  console.log(JSON.stringify(all.filter((k) => !/^(workspace|admin):/.test(k))))')
json -f -b "$jar" -H 'x-request-from: internal' -X POST "$base/apikey" -d "{\"keyName\":\"$name\",\"permissions\":$perms}" | NAME=$name node -e '
  console.log(JSON.parse(require("fs").readFileSync(0)).find((k) => k.keyName === process.env.NAME).apiKey)'
