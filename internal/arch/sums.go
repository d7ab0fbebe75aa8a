package arch

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// sumSlack is how far a sum may be below its limit before the limit must be lowered.
const sumSlack = 600

// SumRatchets returns the maximum number of lines of Go per top-level folder, without tests and
// test suites. A limit falls with its folder; only a new feature may raise it.
func SumRatchets() map[string]int {
	return map[string]int{
		"bench": 5944, "client": 980, "cmd": 7500, "contracts": 9815, "domainkit": 6670, "domains": 35840, "examples": 5410,
		"execution": 15306, "intent": 31586, "internal": 37262, "orchestrator": 16902, "planner": 6450, "tools": 45, "web": 166,
	}
}

// MaxPackages is the maximum number of packages with non-test code. It may only fall.
const MaxPackages = 125

// CheckSums compares the lines of each top-level folder and the number of packages with their
// limits.
func CheckSums(tree *Tree, limits map[string]int, maxPackages int) []Finding {
	sums, packages := map[string]int{}, map[string]bool{}
	for _, f := range tree.Files {
		if !f.IsGo() || f.IsTest() || f.inTestdata() || f.inSuite() {
			continue
		}
		top, _, _ := strings.Cut(f.Path, "/")
		sums[top] += bytes.Count(f.Src, []byte{'\n'})
		if f.declares() {
			packages[f.Dir()] = true
		}
	}
	var findings []Finding
	add := func(of, format string, args ...any) {
		findings = append(findings, Finding{Path: of, Text: fmt.Sprintf(format, args...)})
	}
	for _, top := range slices.Sorted(maps.Keys(sums)) {
		limit, ok := limits[top]
		switch lines := sums[top]; {
		case !ok:
			add(top, "%d lines of Go, and no limit on them; give it one", lines)
		case lines > limit:
			add(top, "%d lines of Go, more than %d; delete as much as you add", lines, limit)
		case lines < limit-sumSlack:
			add(top, "%d lines of Go; lower its limit from %d", lines, limit)
		}
	}
	for _, top := range slices.Sorted(maps.Keys(limits)) {
		if sums[top] == 0 {
			add(top, "there is no Go in it; take its limit out")
		}
	}
	if n := len(packages); n > maxPackages {
		add(".", "%d packages, more than %d; merge two", n, maxPackages)
	} else if n < maxPackages-3 {
		add(".", "%d packages; lower the limit from %d", n, maxPackages)
	}
	return findings
}

// declares reports whether a file contains declarations. A file with only a package comment just
// names a folder of tests.
func (f File) declares() bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Src, parser.SkipObjectResolution)
	return err != nil || len(parsed.Decls) > 0
}

// inSuite reports whether the file belongs to a test suite: a folder whose name ends in "test",
// or a folder below it.
func (f File) inSuite() bool {
	return slices.ContainsFunc(strings.Split(f.Dir(), "/"), func(part string) bool { return strings.HasSuffix(part, "test") })
}
