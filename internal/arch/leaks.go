package arch

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// leak is a text that no file may contain.
type leak struct {
	// marks are short texts. Every match of the pattern contains one of them.
	marks   []string
	pattern *regexp.Regexp
	why     string
}

// in returns the matches in src.
func (l leak) in(src []byte) [][]int {
	marked := slices.ContainsFunc(l.marks, func(mark string) bool { return bytes.Contains(src, []byte(mark)) })
	if !marked {
		return nil // nearly always, and much faster than the pattern
	}
	return l.pattern.FindAllSubmatchIndex(src, -1)
}

// leaks returns the forbidden texts. They are concatenated so that this file does not contain
// them.
func leaks() []leak {
	homes := strings.Join([]string{"root", "work", `home/[a-z][a-z0-9_-]*`, `Users/[A-Za-z][A-Za-z0-9._-]*`}, "|")
	hosts := strings.Join([]string{
		`proxy\.` + `golang\.org`, `sum\.` + `golang\.org`, `goproxy\.` + `(?:io|cn)`,
		`registry\.` + `(?:npmjs\.org|yarnpkg\.com)`, `files\.` + `pythonhosted\.org`, `pypi\.` + `org`,
	}, "|")
	return []leak{
		{[]string{"/root" + "/", "/work" + "/", "/home/", "/Users/"}, regexp.MustCompile(`(?m)(?:^|[^\w.\-}])(/(?:` + homes + `)/)`), "an absolute path of one machine"},
		{[]string{"../" + "shared"}, regexp.MustCompile(`(\.\./` + `shared\b)`), "a folder outside the repository"},
		{[]string{"proxy.", "sum.", "registry.", "files.", "pypi."}, regexp.MustCompile(`\b(` + hosts + `)\b`), "a package registry; which one is used is for each machine to say"},
	}
}

// CheckLeaks finds texts that are only valid on the machine of their author.
func CheckLeaks(tree *Tree) []Finding {
	var findings []Finding
	patterns := leaks()
	for _, f := range tree.Files {
		if bytes.IndexByte(f.Src, 0) >= 0 {
			continue // not text
		}
		for _, l := range patterns {
			for _, loc := range l.in(f.Src) {
				text := fmt.Sprintf("%q is %s", f.Src[loc[2]:loc[3]], l.why)
				findings = append(findings, Finding{Path: f.Path, Line: f.lineAt(loc[2]), Text: text})
			}
		}
	}
	return findings
}
