package arch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Vocabulary holds the names that only domains may use.
type Vocabulary struct {
	Domains      []string
	Capabilities []string
}

// lifecycle returns names of workflow steps that many domains share. The core may use them.
func lifecycle() []string {
	return []string{"discover", "compile_ops", "validate", "generate_tests", "evaluate"}
}

// homes returns the folders whose subfolders are domains.
func homes() []string { return []string{"domains", "examples"} }

// CheckNames finds names of domains and capabilities in core rooms: in code, comments and
// embedded files, but not in tests.
func CheckNames(tree *Tree, rooms []Room) ([]Finding, error) {
	words, err := ReadVocabulary(tree)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for _, f := range tree.Files {
		room, _, ok := roomOf(rooms, f.Dir())
		if !ok || !room.Core || f.IsTest() || f.inTestdata() {
			continue
		}
		findings = append(findings, namesIn(f, words)...)
	}
	return findings, nil
}

func namesIn(f File, words Vocabulary) []Finding {
	var findings []Finding
	folded := bytes.ToLower(f.Src)
	report := func(kind, word string, pattern func(string) *regexp.Regexp) {
		if !bytes.Contains(folded, bytes.ToLower([]byte(word))) {
			return // nearly always, and much faster than the pattern
		}
		for _, loc := range pattern(word).FindAllIndex(f.Src, -1) {
			findings = append(findings, Finding{Path: f.Path, Line: f.lineAt(loc[0]), Text: fmt.Sprintf("the core names the %s %q", kind, word)})
		}
	}
	for _, word := range words.Domains {
		report("domain", word, domainPattern)
	}
	for _, word := range words.Capabilities {
		report("capability", word, capabilityPattern)
	}
	return findings
}

// capabilityPattern matches the whole word.
func capabilityPattern(word string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
}

// domainPattern matches the word at the beginning of a word, also inside snake_case and camelCase
// names.
func domainPattern(word string) *regexp.Regexp {
	camel := strings.ToUpper(word[:1]) + word[1:]
	return regexp.MustCompile(`(?i:(?:\b|_)` + regexp.QuoteMeta(word) + `)|[a-z0-9]` + regexp.QuoteMeta(camel))
}

// ReadVocabulary collects the names of the domains, from folders and manifests, and those of
// their capabilities that contain an underscore.
func ReadVocabulary(tree *Tree) (Vocabulary, error) {
	domains, capabilities := map[string]bool{}, map[string]bool{}
	packages := map[string][]*ast.File{}
	for _, f := range tree.Files {
		folder, ok := domainFolder(f.Path)
		if !ok || f.IsTest() || f.inTestdata() {
			continue
		}
		domains[folder] = true
		switch path.Ext(f.Path) {
		case ".json":
			readManifest(f.Src, domains, capabilities)
		case ".go":
			parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Src, parser.SkipObjectResolution)
			if err != nil {
				return Vocabulary{}, fmt.Errorf("parse %s: %w", f.Path, err)
			}
			packages[f.Dir()] = append(packages[f.Dir()], parsed)
		case ".py", ".js", ".mjs", ".ts":
			readScript(f.Src, domains, capabilities)
		}
	}
	for _, files := range packages {
		readPackage(files, domains, capabilities)
	}
	return Vocabulary{Domains: sortedKeys(domains, anyName), Capabilities: sortedKeys(capabilities, special)}, nil
}

// domainFolder returns the name of the domain folder that contains a path.
func domainFolder(name string) (string, bool) {
	parts := strings.Split(name, "/")
	if len(parts) < 3 || !slices.Contains(homes(), parts[0]) {
		return "", false
	}
	return parts[1], true
}

func anyName(string) bool { return true }

// special reports whether a name is unlikely to be an ordinary word.
func special(name string) bool {
	return strings.Contains(name, "_") && !slices.Contains(lifecycle(), name)
}

func sortedKeys(set map[string]bool, keep func(string) bool) []string {
	var keys []string
	for key := range set {
		if keep(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// readManifest adds the names in a manifest. It ignores other JSON.
func readManifest(src []byte, domains, capabilities map[string]bool) {
	var manifest struct {
		Domain       string `json:"domain"`
		Capabilities []struct {
			Name string `json:"name"`
		} `json:"capabilities"`
	}
	if json.Unmarshal(src, &manifest) != nil || len(manifest.Capabilities) == 0 {
		return
	}
	if manifest.Domain != "" {
		domains[manifest.Domain] = true
	}
	for _, c := range manifest.Capabilities {
		capabilities[c.Name] = true
	}
}

// readScript adds the names that a domain in another language writes as "domain": "value" and
// "name": "value".
func readScript(src []byte, domains, capabilities map[string]bool) {
	pattern := regexp.MustCompile(`["']?\b(domain|name)\b["']?\s*[:=]\s*["']([a-z][a-z0-9_-]*)["']`)
	for _, match := range pattern.FindAllSubmatch(src, -1) {
		if string(match[1]) == "domain" {
			domains[string(match[2])] = true
		} else {
			capabilities[string(match[2])] = true
		}
	}
}

// readPackage adds the names in one Go package. Names of capabilities are the field Name of a
// literal whose type is called …Capability, and string arguments of functions of domainkit. Names
// of domains are the field Domain of a literal of domainkit. Constants of the package are
// resolved.
func readPackage(files []*ast.File, domains, capabilities map[string]bool) {
	constants := constantsOf(files)
	into := func(set map[string]bool) func(ast.Expr) {
		return func(e ast.Expr) {
			if text, ok := textOf(e, constants); ok && capabilityName().MatchString(text) {
				set[text] = true
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				takeNames(n, into(capabilities))
				if n.Type != nil && ofDomainkit(n.Type) {
					takeField(n, "Domain", into(domains))
				}
			case *ast.CallExpr:
				if ofDomainkit(n.Fun) {
					for _, arg := range n.Args {
						into(capabilities)(arg)
					}
				}
			}
			return true
		})
	}
}

func capabilityName() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`) }

// takeNames passes Name of a capability literal, and of the untyped elements of a list or map of
// capabilities, to take.
func takeNames(lit *ast.CompositeLit, take func(ast.Expr)) {
	switch t := lit.Type.(type) {
	case *ast.ArrayType:
		takeElements(lit, t.Elt, take)
	case *ast.MapType:
		takeElements(lit, t.Value, take)
	default:
		if isCapability(lit.Type) {
			takeField(lit, "Name", take)
		}
	}
}

func takeElements(lit *ast.CompositeLit, element ast.Expr, take func(ast.Expr)) {
	if !isCapability(element) {
		return
	}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
			takeField(inner, "Name", take)
		}
	}
}

// takeField passes the value of one field of a literal to take.
func takeField(lit *ast.CompositeLit, field string, take func(ast.Expr)) {
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == field {
			take(pair.Value)
		}
	}
}

func isCapability(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return strings.HasSuffix(strings.ToLower(t.Name), "capability")
	case *ast.SelectorExpr:
		return isCapability(t.Sel)
	case *ast.StarExpr:
		return isCapability(t.X)
	default:
		return false
	}
}

// ofDomainkit reports whether a function or type belongs to package domainkit.
func ofDomainkit(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		pkg, ok := fun.X.(*ast.Ident)
		return ok && pkg.Name == "domainkit"
	case *ast.IndexExpr:
		return ofDomainkit(fun.X)
	case *ast.IndexListExpr:
		return ofDomainkit(fun.X)
	default:
		return false
	}
}

func constantsOf(files []*ast.File) map[string]string {
	constants := map[string]string{}
	for _, f := range files {
		for _, decl := range f.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				addConstants(spec, constants)
			}
		}
	}
	return constants
}

func addConstants(spec ast.Spec, constants map[string]string) {
	values, ok := spec.(*ast.ValueSpec)
	if !ok {
		return
	}
	for i, name := range values.Names {
		if i >= len(values.Values) {
			return
		}
		if text, ok := textOf(values.Values[i], nil); ok {
			constants[name.Name] = text
		}
	}
}

// textOf returns the value of a string literal or of a known constant.
func textOf(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		text, ok := constants[e.Name]
		return text, ok
	default:
		return "", false
	}
}
