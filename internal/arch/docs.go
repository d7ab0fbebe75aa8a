package arch

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The documents that the checks read.
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
		dir := strings.TrimSuffix(r.Dir, "/*")
		if !regexp.MustCompile(`(?:^|[^\w/])` + regexp.QuoteMeta(dir) + `\b`).MatchString(text) {
			findings = append(findings, Finding{Path: architecture, Text: fmt.Sprintf("does not mention the room %s", dir)})
		}
	}
	return findings
}

// CheckDecisions finds decision records that the index does not link, and files in their folder
// with other names.
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

// CheckDependencies finds direct requirements in go.mod that no decision record names.
func CheckDependencies(tree *Tree) []Finding {
	gomod, _ := tree.text("go.mod")
	var findings []Finding
	for i, line := range strings.Split(gomod, "\n") {
		module, ok := directRequirement(line)
		if ok && !tree.decided(module) {
			text := fmt.Sprintf("no decision in %s names %s: why it, who keeps it, what it weighs", decisions, module)
			findings = append(findings, Finding{Path: "go.mod", Line: i + 1, Text: text})
		}
	}
	return findings
}

// directRequirement parses "module version" as in a require block or after the word require.
func directRequirement(line string) (module string, ok bool) {
	fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
	if len(fields) != 2 || !strings.HasPrefix(fields[1], "v") {
		return "", false // an indirect requirement is followed by a comment
	}
	return fields[0], true
}

// decided reports whether a decision record names the module.
func (t *Tree) decided(module string) bool {
	return slices.ContainsFunc(t.Files, func(f File) bool {
		return f.Dir() == decisions && strings.Contains(string(f.Src), "`"+module+"`")
	})
}

// text returns the content of a file.
func (t *Tree) text(name string) (string, bool) {
	for _, f := range t.Files {
		if f.Path == name {
			return string(f.Src), true
		}
	}
	return "", false
}

// mapRow matches a row of a code map: a file and the function, method or type that it declares,
// possibly after a question.
var mapRow = regexp.MustCompile("(?m)^\\| \\d+ \\|(?: [^|`]+ \\|)? `([^`]+\\.go)` \\| `([^`]+)` \\|")

// mapPlaces is the number of rows in the map of a document.
const mapPlaces = 10

// CheckMap finds rows of a document's code map whose declarations do not exist.
func CheckMap(tree *Tree, document string) []Finding {
	text, ok := tree.text(document)
	if !ok {
		return []Finding{{Path: document, Text: "there is no such file"}}
	}
	var findings []Finding
	rows := mapRow.FindAllStringSubmatch(text, -1)
	if len(rows) != mapPlaces {
		findings = append(findings, Finding{Path: document, Text: fmt.Sprintf("its map has %d places, not %d", len(rows), mapPlaces)})
	}
	for _, row := range rows {
		src, there := tree.text(row[1])
		if !there || !declaration(row[2]).MatchString(src) {
			findings = append(findings, Finding{Path: document, Text: fmt.Sprintf("its map says that %s declares %s, which it does not", row[1], row[2])})
		}
	}
	return findings
}

// declaration matches the declaration of a function, of a type or, for Type.Method, of a method.
func declaration(name string) *regexp.Regexp {
	if of, method, isMethod := strings.Cut(name, "."); isMethod {
		return regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?` + regexp.QuoteMeta(of) + `\) ` + regexp.QuoteMeta(method) + `\(`)
	}
	return regexp.MustCompile(`(?m)^(?:func ` + regexp.QuoteMeta(name) + `[\[(]|type ` + regexp.QuoteMeta(name) + `\b)`)
}
