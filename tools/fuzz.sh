#!/usr/bin/env bash
# Runs every fuzz target of the module, FUZZTIME each, JOBS of them beside each
# other: one job has all processors, each of several has one worker. TARGETS says
# how many are run, chosen by SEED.
# An input that breaks a target is written to testdata/fuzz beside it: keep it,
# it is the regression test.
set -euo pipefail

export go=${GO:-go}
export fuzztime=${FUZZTIME:-30s}
jobs=${JOBS:-1}
export workers=
[ "$jobs" = 1 ] || workers='-parallel=1'

targets=$(
	find . \( -name '.?*' -o -name testdata -o -name node_modules \) -prune -o -name '*_test.go' -print |
		xargs grep -oE '^func Fuzz[A-Z0-9_][A-Za-z0-9_]*' /dev/null |
		sed -E 's|^(.*)/[^/]*:func (.*)$|\1 \2|' | sort -u
)
if [ -z "$targets" ]; then
	echo "fuzz: no targets found" >&2
	exit 1
fi

if [ -n "${TARGETS:-}" ]; then
	targets=$(tools/pick.sh "${SEED:-1}" "$TARGETS" <<<"$targets")
fi

# late tells whether all that a failed run says is that its time was up: Go before 1.27
# takes that for a fault now and then, on a busy machine (https://go.dev/issue/75804).
# A run that found something names the input or says what failed.
late() {
	grep -qx "    context deadline exceeded" "$1" &&
		! grep -qE 'Failing input written|^panic: |_test\.go:[0-9]+|fuzzing process' "$1"
}
export -f late

# one FOLDER NAME runs one target, and says whose each line is.
one() {
	set -o pipefail
	local said
	said=$(mktemp)
	# shellcheck disable=SC2064 # the name as it is now
	trap "rm -f '$said'" EXIT
	echo "fuzz: $2 in $1, $fuzztime"
	# shellcheck disable=SC2086 # no workers is no argument
	"$go" test -run '^$' -fuzz "^$2\$" -fuzztime "$fuzztime" -fuzzminimizetime 10x $workers "$1" </dev/null 2>&1 | tee "$said" | sed "s/^/$2: /" && return
	late "$said" && echo "$2: found nothing; Go was late to end it" && return
	echo "fuzz: FAILED: $2 in $1"
	return 1
}
export -f one

# A target that fails stops no other one; then the whole has failed.
xargs -P "$jobs" -L 1 bash -c 'one "$@"' one <<<"$targets"
echo "fuzz: $(wc -l <<<"$targets") targets, $fuzztime each: clean"
