package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// CheckImports finds imports that the rooms do not allow, and Go files in folders without a room.
// Imports of tests are not checked, but their folder needs a room.
func CheckImports(tree *Tree, rooms []Room) ([]Finding, error) {
	var findings []Finding
	for _, f := range tree.Files {
		if !f.IsGo() || f.inTestdata() {
			continue
		}
		room, instance, ok := roomOf(rooms, f.Dir())
		if !ok {
			findings = append(findings, Finding{Path: f.Path, Text: "no room for this folder; decide one in internal/arch/rooms.go"})
			continue
		}
		if f.IsTest() {
			continue
		}
		found, err := checkFile(f, room, instance, rooms)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// CheckRooms finds rooms without a Go file, which the diagram must not show.
func CheckRooms(tree *Tree, rooms []Room) []Finding {
	used := map[string]bool{}
	for _, f := range tree.Files {
		if room, _, ok := roomOf(rooms, f.Dir()); ok && f.IsGo() {
			used[room.Dir] = true
		}
	}
	var findings []Finding
	for _, r := range rooms {
		if !used[r.Dir] {
			findings = append(findings, Finding{Path: r.Dir, Text: "this room has no Go file; take it out of internal/arch/rooms.go"})
		}
	}
	return findings
}

// roomOf returns the most specific room that contains dir.
func roomOf(rooms []Room, dir string) (best Room, instance string, ok bool) {
	for _, r := range rooms {
		name, contains := r.contains(dir)
		if contains && len(name) > len(instance) {
			best, instance, ok = r, name, true
		}
	}
	return best, instance, ok
}

func checkFile(f File, room Room, instance string, rooms []Room) ([]Finding, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, f.Path, f.Src, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", f.Path, err)
	}
	var findings []Finding
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("parse %s: import %s: %w", f.Path, spec.Path.Value, err)
		}
		if text := refusal(room, instance, imported, rooms); text != "" {
			line := fset.Position(spec.Pos()).Line
			findings = append(findings, Finding{Path: f.Path, Line: line, Text: text})
		}
	}
	return findings, nil
}

// refusal returns why the room must not import the package, or "" if it may.
func refusal(room Room, instance, imported string, rooms []Room) string {
	switch dir, inModule := strings.CutPrefix(imported, Module+"/"); {
	case inModule:
		target, targetInstance, ok := roomOf(rooms, dir)
		switch {
		case !ok:
			return fmt.Sprintf("%s imports %s, which no room covers", instance, dir)
		case targetInstance == instance || slices.Contains(room.Rooms, target.Dir):
			return ""
		default:
			return fmt.Sprintf("%s must not import %s", instance, dir)
		}
	case isStandard(imported):
		if refusedStandard(room, imported) {
			return fmt.Sprintf("%s must not import %q: no I/O of its own, no test harness", instance, imported)
		}
		return ""
	case slices.Contains(room.Modules, "*") || slices.ContainsFunc(room.Modules, under(imported)):
		return ""
	default:
		return fmt.Sprintf("%s must not depend on %q", instance, imported)
	}
}

// isStandard reports whether a package belongs to the standard library: its first path element
// has no dot. Import paths of this module are checked before.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func refusedStandard(room Room, imported string) bool {
	refuses := append([]string{testHarness}, room.Refuses...)
	return slices.ContainsFunc(refuses, under(imported)) && !slices.ContainsFunc(room.Allows, under(imported))
}

// under returns a function that reports whether a prefix covers the imported package. A prefix
// that ends in "!" covers only the package itself.
func under(imported string) func(prefix string) bool {
	return func(prefix string) bool {
		if exact, only := strings.CutSuffix(prefix, "!"); only {
			return imported == exact
		}
		return imported == prefix || strings.HasPrefix(imported, path.Clean(prefix)+"/")
	}
}
