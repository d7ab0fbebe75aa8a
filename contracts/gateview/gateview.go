// Package gateview formats gates and questions for people, identically in every interface: first
// the question, then the parameters of the call. It omits values that only machines compare, such
// as hashes.
package gateview

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
)

// Row is one parameter of a gate's action, for display.
type Row struct {
	// Parameter is the name in the action, Name its display name.
	Parameter, Name string
	// Value is the value to be sent. Label is the label of the option by which it was chosen, ""
	// if it was not chosen from a list.
	Value any
	Label string
	From  contracts.Provenance
	// Opaque means that the value is not readable by a person, such as a digest or a long id. Its
	// label is shown instead; without one it appears only in the details.
	Opaque bool
}

// Of returns the parameters of a gate's action, sorted by name. Values that only machines
// compare, such as hashes, are omitted; the action contains them.
func Of(i contracts.Interrupt) []Row {
	if i.Action == nil {
		return nil
	}
	var out []Row
	for name, value := range i.Action.Sent() {
		row := Row{Parameter: name, Name: ParameterWords(name), Value: value, Label: contracts.CleanSummary(i.Label(name)), Opaque: opaque(value)}
		if IsArtifact(value) && row.Label == "" {
			row.Label = "as this run has made it"
		}
		if said := i.Action.Utterance; said != nil {
			row.From = said.Values[name]
		}
		_, bound := i.Action.Bound[name]
		nothing := row.Value == "" && (bound || row.From == contracts.FromLookup)
		if nothing || row.Label == "" && (bound || IsDigest(row.Value)) {
			continue
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b Row) int { return strings.Compare(a.Parameter, b.Parameter) })
	return out
}

// Asks returns the question of a gate in one line, without the values that its rows show.
func Asks(i contracts.Interrupt) string {
	if i.Action == nil {
		return i.Prompt
	}
	if before, _, found := strings.Cut(i.Prompt, "? "); found {
		return before + "?"
	}
	return i.Prompt
}

// AsksFor returns the question of the gate of a capability: "Move desk in Office?" for
// "office.move_desk".
func AsksFor(ref string) string { return capital(ActionWords(ref)) + "?" }

// ActionWords returns the display name of a capability: "move desk in Office" for
// "office.move_desk".
func ActionWords(ref string) string {
	domain, name, found := strings.Cut(ref, ".")
	if !found {
		return strings.ReplaceAll(ref, "_", " ")
	}
	return strings.ReplaceAll(name, "_", " ") + " in " + capital(domain)
}

// ParameterWords returns the display name of a parameter: "desk" for "desk_id".
func ParameterWords(name string) string {
	for _, ending := range []string{"_id", "_sha256"} {
		if rest := strings.TrimSuffix(name, ending); rest != "" {
			name = rest
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// IsDigest reports whether a value is a hash.
func IsDigest(value any) bool {
	text, ok := value.(string)
	if _, after, found := strings.Cut(text, ":"); found && strings.HasPrefix(text, "sha") {
		text = after
	}
	return ok && slices.Contains([]int{40, 64, 96, 128}, len(text)) && hexadecimal(text)
}

// IsArtifact reports whether a value is an artifact reference.
func IsArtifact(value any) bool {
	reference, ok := value.(map[string]any)
	return ok && len(reference) == 1 && reference["$artifact"] != nil
}

// opaque reports whether a value is a digest, an artifact reference or a long id.
func opaque(value any) bool {
	text, ok := value.(string)
	return ok && len(text) >= 20 && hexadecimal(strings.ReplaceAll(text, "-", "")) || IsDigest(value) || IsArtifact(value)
}

func hexadecimal(text string) bool {
	return text != "" && strings.IndexFunc(strings.ToLower(text), func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) < 0
}

func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
