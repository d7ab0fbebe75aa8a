#!/bin/sh
# Runs every fuzz target of the module, one after the other, FUZZTIME each.
# An input that breaks a target is written to testdata/fuzz beside it: keep it,
# it is the regression test.
set -eu

go=${GO:-go}
fuzztime=${FUZZTIME:-30s}

targets=$(
	find . \( -name '.?*' -o -name testdata -o -name node_modules \) -prune -o -name '*_test.go' -print |
		xargs grep -oE '^func Fuzz[A-Z0-9_][A-Za-z0-9_]*' /dev/null |
		sed -E 's|^(.*)/[^/]*:func (.*)$|\1 \2|' | sort -u
)
if [ -z "$targets" ]; then
	echo "fuzz: no targets found" >&2
	exit 1
fi

echo "$targets" | while read -r folder name; do
	echo "fuzz: $name in $folder, $fuzztime"
	"$go" test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" -fuzzminimizetime 10x "$folder" </dev/null
done
