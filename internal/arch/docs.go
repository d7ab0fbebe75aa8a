package arch

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// The documents that the checks below read.
const (
	architecture  = "ARCHITECTURE.md"
	decisions     = "docs/adr"
	decisionIndex = decisions + "/README.md"
)

// CheckDiagram finds rooms that ARCHITECTURE.md does not mention.
func CheckDiagram(tree *Tree, rooms []Room) []Finding {
	text, ok := tree.text(architecture)
	if !ok {
		return []Finding{{Path: architecture, Text: "there is no such file"}}
	}
	var findings []Finding
	for _, r := range rooms {
		dir := strings.TrimSuffix(strings.TrimSuffix(r.Dir, "/..."), "/*")
		if !regexp.MustCompile(`(?:^|[^\w/])` + regexp.QuoteMeta(dir) + `\b`).MatchString(text) {
			findings = append(findings, Finding{Path: architecture, Text: fmt.Sprintf("does not mention the room %s", dir)})
		}
	}
	return findings
}

// CheckDecisions finds decisions that the index does not link, and files in
// the folder of decisions that are not named like one.
func CheckDecisions(tree *Tree) []Finding {
	index, ok := tree.text(decisionIndex)
	if !ok {
		return []Finding{{Path: decisionIndex, Text: "there is no such file"}}
	}
	named := regexp.MustCompile(`^\d{4}-[a-z0-9-]+\.md$`)
	var findings []Finding
	for _, f := range tree.Files {
		base := path.Base(f.Path)
		switch {
		case f.Dir() != decisions || f.Path == decisionIndex:
		case !named.MatchString(base):
			findings = append(findings, Finding{Path: f.Path, Text: "a decision is named 0000-in-lower-case.md"})
		case !strings.Contains(index, "("+base+")"):
			findings = append(findings, Finding{Path: f.Path, Text: "is not linked in " + decisionIndex})
		}
	}
	return findings
}

// text gives the content of one file.
func (t *Tree) text(name string) (string, bool) {
	for _, f := range t.Files {
		if f.Path == name {
			return string(f.Src), true
		}
	}
	return "", false
}
