#!/bin/sh
# Picks lines of its input by a seed: the same ones for the same seed.
#   pick.sh SEED COUNT <lines
set -eu
while IFS= read -r line; do
	printf '%s %s\n' "$(printf '%s %s' "$1" "$line" | cksum | cut -d ' ' -f 1)" "$line"
done | sort -n | head -n "$2" | cut -d ' ' -f 2-
