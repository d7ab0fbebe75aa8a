package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Resolve replaces every "${path}" in v, in maps and lists at any depth. A string that is exactly
// one expression becomes the value with its type. Inside other text, strings are inserted unchanged
// and every other value as JSON. Values are never evaluated again. The result shares nothing with v
// or the scope. The reads are sorted by path, each path once.
//
// An expression that is more than a path is computed with CEL; if that fails, the error is an
// EvalError.
//
// For missing paths, the error has the code not_found, lists all of them by their pointer in v, and
// wraps a MissingError.
func Resolve(v any, scope Scope) (any, []Read, error) {
	norm, err := contracts.Normalize(v)
	if err != nil {
		return nil, nil, contracts.Errorf(contracts.CodeInvalid, "resolve expressions: %w", err)
	}
	r := &resolver{scope: scope, reads: map[string]any{}}
	out, err := r.value("", norm)
	if err != nil {
		return nil, nil, err
	}
	if len(r.missing) > 0 {
		return nil, r.sorted(), missingError(r.missing)
	}
	return out, r.sorted(), nil
}

// ResolveCall resolves the param_map of a call that follows another. A parameter that only copies
// one of the other call is omitted if that one was not given.
func ResolveCall(paramMap map[string]any, scope Scope) (map[string]any, []Read, error) {
	given := maps.Clone(paramMap)
	before, _ := scope["params"].(map[string]any)
	maps.DeleteFunc(given, func(_ string, v any) bool {
		text, _ := v.(string)
		name, opens := strings.CutPrefix(text, "${params.")
		name, closes := strings.CutSuffix(name, "}")
		return opens && closes && !strings.ContainsAny(name, ".[}") && before[name] == nil
	})
	value, reads, err := Resolve(any(given), scope)
	params, _ := value.(map[string]any)
	return params, reads, err
}

func missingError(missing []contracts.Fault) error {
	first := &MissingError{Path: missing[0].Message}
	err := contracts.Errorf(contracts.CodeNotFound, "an expression reads what is not there: %w", first)
	for _, m := range missing {
		err.Faults = append(err.Faults, contracts.Fault{Pointer: m.Pointer, Message: (&MissingError{Path: m.Message}).Error()})
	}
	return err
}

// resolver collects the reads and the missing paths (the path is the message).
type resolver struct {
	scope   Scope
	reads   map[string]any
	missing []contracts.Fault
}

func (r *resolver) value(at string, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return r.text(at, v)
	case []any:
		for i, item := range v {
			next, err := r.value(at+"/"+strconv.Itoa(i), item)
			if err != nil {
				return nil, err
			}
			v[i] = next
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			next, err := r.value(at+"/"+contracts.EscapeToken(name), v[name])
			if err != nil {
				return nil, err
			}
			v[name] = next
		}
	}
	return v, nil
}

func (r *resolver) text(at, text string) (any, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	parts, err := contracts.SplitTemplate(text)
	if err != nil {
		return nil, err
	}
	if len(parts) == 1 && parts[0].IsExpression() {
		return r.part(at, parts[0])
	}
	var b strings.Builder
	for _, part := range parts {
		if !part.IsExpression() {
			b.WriteString(part.Text)
			continue
		}
		v, err := r.part(at, part)
		if err != nil {
			return nil, err
		}
		if err := r.write(&b, part, v); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}

// write inserts a value into text; the values of a column are separated by commas.
func (r *resolver) write(b *strings.Builder, part contracts.TemplatePart, v any) error {
	column, ok := v.([]any)
	if !ok || !r.several(part.Path) {
		return writeText(b, v)
	}
	for i, one := range column {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := writeText(b, one); err != nil {
			return err
		}
	}
	return nil
}

// several reports whether a path leads to a column.
func (r *resolver) several(path contracts.Path) bool {
	if path == nil {
		return false
	}
	v, _ := lookup(r.scope, path)
	_, ok := v.(Column)
	return ok
}

// part returns the value of an expression; a path needs no compiler.
func (r *resolver) part(at string, part contracts.TemplatePart) (any, error) {
	if part.Path != nil {
		return r.read(at, part.Path)
	}
	return r.compute(part.Source)
}

// compute evaluates an expression that is more than a path, and records its reads.
func (r *resolver) compute(source string) (any, error) {
	p, err := programs.get(source)
	if err != nil {
		return nil, err
	}
	for _, path := range p.paths {
		if _, err := r.optional(path); err != nil {
			return nil, err
		}
	}
	return p.eval(source, r.scope)
}

// read returns a copy of the value at a path and records the read.
func (r *resolver) read(at string, path contracts.Path) (any, error) {
	v, ok := lookup(r.scope, path)
	if !ok {
		r.missing = append(r.missing, contracts.Fault{Pointer: at, Message: path.String()})
		return nil, nil
	}
	return r.note(path, v)
}

func (r *resolver) note(path contracts.Path, v any) (any, error) {
	kept, err := contracts.Normalize(v)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "read %s: %w", path, err)
	}
	r.reads[path.String()] = kept
	return contracts.Normalize(kept)
}

func (r *resolver) sorted() []Read {
	var reads []Read
	for _, path := range slices.Sorted(maps.Keys(r.reads)) {
		reads = append(reads, Read{Path: path, Value: r.reads[path]})
	}
	return reads
}

func writeText(b *strings.Builder, v any) error {
	if s, ok := v.(string); ok {
		b.WriteString(s)
		return nil
	}
	raw, err := contracts.Canonical(v)
	if err != nil {
		return err
	}
	b.Write(raw)
	return nil
}

// Escape escapes everything in v that looks like an expression, so that external text is never
// evaluated. Resolve of the result returns v.
func Escape(v any) any { return contracts.EscapeTemplates(v) }
