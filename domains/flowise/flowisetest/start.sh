#!/usr/bin/env bash
# Starts an installed Flowise in the foreground, on loopback; the process becomes the server.
#   start.sh DIR PORT DATADIR     DIR is what install.sh printed. Ready when GET /api/v1/ping answers pong (8 to 17 s).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage='usage: start.sh DIR PORT DATADIR'
dir=$(cd "${1:?$usage}" && pwd)
port=${2:?$usage}
mkdir -p "${3:?$usage}"
data=$(cd "$3" && pwd)
export HOME=$data PORT=$port HOST=127.0.0.1 DATABASE_PATH=$data SECRETKEY_PATH=$data
export BLOB_STORAGE_PATH=$data/storage LOG_PATH=$data/logs
export DISABLE_FLOWISE_TELEMETRY=true JWT_TOKEN_EXPIRY_IN_MINUTES=1440
# Since 3.1 Flowise denies its nodes every private address; the fakes of the tests are on loopback.
export HTTP_SECURITY_CHECK=false
# Neither model lists nor tokenizers are fetched from the internet.
export MODEL_LIST_CONFIG_JSON=$dir/node_modules/flowise-components/models.json
export FLOWISE_DIR=$dir NODE_OPTIONS="--require $here/offline.cjs"
cd "$dir/node_modules/flowise/bin"
exec node ./run start
