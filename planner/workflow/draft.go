package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Earlier is an existing call of a run that a later draft may read.
type Earlier struct {
	// Name is its name in the draft, Tool the capability that it calls.
	Name, Tool string
	// Several means that it makes more than one call.
	Several bool
}

// ReadDraft converts a draft to tool steps of a workflow, and checks them like those of a workflow:
// ids, edges, cycles, references, conditions and the types of facts. The faults have pointers into
// the draft. The planner checks the rest of each call, because it knows look-ups, lists and
// aliases.
//
// In the steps, references have the syntax of workflows, and everything else in a text is escaped,
// so that only the forms that a draft may use are ever evaluated.
func ReadDraft(d contracts.Draft, catalog *contracts.Catalog, earlier []Earlier) ([]contracts.Step, []contracts.Fault) {
	r := drafting{catalog: catalog, names: map[string]bool{}}
	switch n := len(d.Steps); {
	case n == 0:
		r.faults.add("/steps", "must have at least one step")
	case n > contracts.MaxDraftSteps:
		r.faults.add("/steps", "has %d steps; at most %d are possible", n, contracts.MaxDraftSteps)
		return nil, r.faults
	}
	for _, e := range earlier {
		r.names[e.Name] = true
	}
	for i, s := range d.Steps {
		r.names[draftID(i, s)] = true
	}
	w := &contracts.Workflow{Schema: json.RawMessage(`{"type":"object"}`)}
	for i, s := range d.Steps {
		w.Steps = append(w.Steps, r.step(i, s))
	}
	for _, e := range earlier {
		if !slices.ContainsFunc(w.Steps, func(s contracts.Step) bool { return s.ID == e.Name }) {
			w.Steps = append(w.Steps, contracts.Step{ID: e.Name, Kind: contracts.StepTool, Tool: e.Tool})
		}
	}
	return w.Steps[:len(d.Steps)], append(r.faults, checkDraft(w, len(d.Steps), catalog, earlier)...)
}

// draftID returns the id of a step; a step without one is numbered.
func draftID(i int, s contracts.DraftStep) string {
	if s.ID != "" {
		return s.ID
	}
	return fmt.Sprintf("s%d", i+1)
}

// drafting reads one draft.
type drafting struct {
	catalog *contracts.Catalog
	// names are the possible roots of references: the steps, and the calls of the run.
	names  map[string]bool
	faults faultList
}

func (r *drafting) step(i int, s contracts.DraftStep) contracts.Step {
	out := contracts.Step{ID: draftID(i, s), Kind: contracts.StepTool, Tool: r.tool(at("steps", i, "tool"), s.Tool), DependsOn: s.DependsOn}
	if len(out.ID) > 64 || !plainName(out.ID) {
		r.faults.add(at("steps", i, "id"), "must be a plain name of at most 64 letters, digits and _")
	}
	params, err := contracts.Normalize(asObject(s.Params))
	if err != nil {
		r.faults.add(at("steps", i, "params"), "is no JSON: %s", err)
	}
	out.Params, _ = r.value(at("steps", i, "params"), params).(map[string]any)
	maps.DeleteFunc(out.Params, func(_ string, v any) bool { return v == nil })
	if text := strings.TrimSpace(s.When); text != "" {
		out.When = &contracts.Condition{Expr: r.expression(text)}
	}
	if text := strings.TrimSpace(s.ForEach); text != "" {
		out.ForEach = &contracts.ForEach{Items: r.expression(text)}
	}
	return out
}

func asObject(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// tool returns the capability that a step names, by its reference or by its OfferedName.
func (r *drafting) tool(place, name string) string {
	if e, ok := r.catalog.Capability(name); ok {
		return e.Ref()
	}
	found := map[string]bool{}
	for _, d := range r.catalog.Domains {
		for _, e := range d.Capabilities {
			found[e.Ref()] = OfferedName(e) == name
		}
	}
	known := maps.Clone(found)
	maps.DeleteFunc(found, func(_ string, same bool) bool { return !same })
	switch len(found) {
	case 1:
		return keys(found)[0]
	case 0:
		r.faults.add(place, "there is no capability %q%s", name, near(name, known))
	default:
		r.faults.add(place, "%q can be %s; write it with a dot", name, strings.Join(keys(found), " or "))
	}
	return name
}

// OfferedName returns the name of a capability for models, where a dot and some letters are not
// allowed.
func OfferedName(e *contracts.CapabilityEntry) string {
	plain := func(s string) string {
		return strings.Map(func(c rune) rune {
			if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return '_'
		}, s)
	}
	return plain(e.Domain) + "-" + plain(e.Capability.Name)
}

// value converts the references in a value to those of workflows, and escapes everything else.
func (r *drafting) value(place string, v any) any {
	switch v := v.(type) {
	case string:
		return r.text(place, v)
	case []any:
		for i, item := range v {
			v[i] = r.value(place+at(i), item)
		}
	case map[string]any:
		for _, name := range keys(v) {
			v[name] = r.value(place+at(name), v[name])
		}
	}
	return v
}

func (r *drafting) text(place, text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		plain, escaped := strings.CutSuffix(before, `\`)
		if !found {
			out.WriteString(before)
			return out.String()
		}
		text = after
		if inner, rest, closed := strings.Cut(after, "}"); closed && !escaped {
			if path := r.reference(place, strings.TrimSpace(inner)); path != nil {
				out.WriteString(before + "${" + path.String() + "}")
				text = rest
				continue
			}
		}
		out.WriteString(plain + `\${`)
	}
}

// stepMembers are the members of a step that a reference may read.
var stepMembers = []string{"state", "ok", "summary", "facts", "artifacts", "error"}

// reference parses the text in the braces as a path of a workflow. It returns nil for plain text. A
// malformed reference is a fault.
func (r *drafting) reference(place, inner string) contracts.Path {
	path, err := contracts.ParsePath(inner)
	if err != nil {
		root, rest := splitName(inner)
		if (r.names[root] || root == "steps" || root == "item") && rest != "" && strings.ContainsAny(rest[:1], ".[ ") {
			r.faults.add(place, "${%s} must be a plain reference, such as ${step.facts.x} or ${step.summary}", inner)
		}
		return nil
	}
	switch root := path.Root(); {
	case root == "steps", root == "item":
		return path
	case r.names[root] && len(path) == 1:
		r.faults.add(place, "${%s} must say what of the step, such as ${%s.summary} or ${%s.facts.x}", root, root, root)
		return nil
	case r.names[root], len(path) > 1 && slices.Contains(stepMembers, path[1].Name) && !slices.Contains(contracts.ExprRoots(), root):
		return append(contracts.Path{{Name: "steps"}}, path...)
	default:
		return nil
	}
}

// splitName splits a text after the name that it begins with.
func splitName(text string) (name, rest string) {
	end := strings.IndexFunc(text, func(c rune) bool { return !nameRune(c) })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

func nameRune(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// expression converts a condition or a list to one expression of workflows: braces around
// references are removed, and "and", "or", "not" and "=" become operators.
func (r *drafting) expression(text string) string {
	return "${" + r.unbraced(text) + "}"
}

func (r *drafting) unbraced(text string) string {
	var out strings.Builder
	for last := byte(0); text != ""; {
		token, kind := scanToken(text)
		text = text[len(token):]
		switch kind {
		case tokenBraced:
			inner := strings.TrimSpace(r.unbraced(token[2 : len(token)-1]))
			if _, err := contracts.ParsePath(inner); err != nil && (text != "" || out.Len() > 0) {
				inner = "(" + inner + ")"
			}
			out.WriteString(inner)
		case tokenName:
			out.WriteString(r.name(token, text, last == '.'))
		case tokenEquals:
			out.WriteString("==")
		case tokenOther:
			out.WriteString(token)
		}
		last = token[len(token)-1]
	}
	return out.String()
}

// name converts a name of an expression.
func (r *drafting) name(name, rest string, member bool) string {
	switch {
	case member:
		return name
	case r.names[name] && rest != "" && (rest[0] == '.' || rest[0] == '['):
		return "steps." + name
	case name == "and" || name == "AND":
		return "&&"
	case name == "or" || name == "OR":
		return "||"
	case name == "not" || name == "NOT":
		return "!"
	default:
		return name
	}
}

// Renamed returns a template with renamed steps, such as by the names of their nodes.
func Renamed(text string, names map[string]string) string {
	parts, err := contracts.SplitTemplate(text)
	if err != nil {
		return text
	}
	var out strings.Builder
	for _, p := range parts {
		switch {
		case p.Path != nil:
			path := slices.Clone(p.Path)
			if to, ok := names[stepOf(path)]; ok {
				path[1].Name = to
			}
			out.WriteString("${" + path.String() + "}")
		case p.Source != "":
			out.WriteString("${" + renamedSource(p.Source, names) + "}")
		default:
			out.WriteString(strings.ReplaceAll(p.Text, "${", `\${`))
		}
	}
	return out.String()
}

func renamedSource(source string, names map[string]string) string {
	var out strings.Builder
	var before [3]string // the previous tokens, latest first
	for source != "" {
		token, kind := scanToken(source)
		source = source[len(token):]
		root := before[1] == "steps" && before[2] != "."
		switch {
		case root && before[0] == "." && kind == tokenName:
			if to, ok := names[token]; ok {
				token = to
			}
		case root && before[0] == "[" && len(token) > 2:
			if to, ok := names[token[1:len(token)-1]]; ok {
				token = token[:1] + to + token[:1]
			}
		}
		out.WriteString(token)
		before = [3]string{token, before[0], before[1]}
	}
	return out.String()
}

// tokenKind is the kind of a token of an expression.
type tokenKind int

const (
	tokenOther tokenKind = iota
	tokenName
	tokenBraced
	tokenEquals
)

// scanToken returns the first token of an expression. A quoted string is one token.
func scanToken(text string) (string, tokenKind) {
	switch c := text[0]; {
	case nameRune(rune(c)):
		name, _ := splitName(text)
		return name, tokenName
	case c == '"' || c == '\'':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case c:
				return text[:i+1], tokenOther
			}
		}
		return text, tokenOther
	case strings.HasPrefix(text, "${"):
		if end := closing(text[2:]); end >= 0 {
			return text[:2+end+1], tokenBraced
		}
		return text, tokenOther
	case len(text) > 1 && text[1] == '=' && strings.ContainsRune("=!<>", rune(c)):
		return text[:2], tokenOther
	case c == '=':
		return text[:1], tokenEquals
	default:
		return text[:1], tokenOther
	}
}

// closing returns the index of the brace that closes one opened before the text.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
		token := text[i : i+1]
		if text[i] == '"' || text[i] == '\'' {
			token, _ = scanToken(text[i:])
		}
		i += len(token)
	}
	return -1
}
