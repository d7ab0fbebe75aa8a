// Package gateview formats a gate or a question for people, the same in every
// interface: first what it asks for, then what will be sent. It leaves out what is
// compared by machines only, such as hashes.
package gateview

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
)

// Row is one parameter of a gate's action as people read it.
type Row struct {
	// Parameter is its name in the action, Name the same in words.
	Parameter, Name string
	// Value is what will be sent, Label the words by which it was chosen from a
	// list, "" if it was not.
	Value any
	Label string
	From  contracts.Provenance
	// Opaque means that the value says nothing to a person, as a digest or a long
	// id does: its label stands for it, and what has none is left to the details.
	Opaque bool
}

// Of is what will be sent by a gate's action, by name, the same in every
// interface. Values that only machines compare, such as the hash of what was looked at,
// are left out; the action has them.
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

// Asks is what a gate asks, in one line and without the values that stand in its
// sheet.
func Asks(i contracts.Interrupt) string {
	if i.Action == nil {
		return i.Prompt
	}
	if before, _, found := strings.Cut(i.Prompt, "? "); found {
		return before + "?"
	}
	return i.Prompt
}

// AsksFor is what the gate of a capability asks, by its reference: "Move desk in
// Office?" for "office.move_desk".
func AsksFor(ref string) string { return capital(ActionWords(ref)) + "?" }

// ActionWords is what a capability does, by its reference: "move desk in Office".
func ActionWords(ref string) string {
	domain, name, found := strings.Cut(ref, ".")
	if !found {
		return strings.ReplaceAll(ref, "_", " ")
	}
	return strings.ReplaceAll(name, "_", " ") + " in " + capital(domain)
}

// ParameterWords is the name of a parameter as people say it: "desk" for
// "desk_id".
func ParameterWords(name string) string {
	for _, ending := range []string{"_id", "_sha256"} {
		if rest := strings.TrimSuffix(name, ending); rest != "" {
			name = rest
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// IsDigest reports whether a value is a hash, which is there to be compared and
// never to be read.
func IsDigest(value any) bool {
	text, ok := value.(string)
	if _, after, found := strings.Cut(text, ":"); found && strings.HasPrefix(text, "sha") {
		text = after
	}
	return ok && slices.Contains([]int{40, 64, 96, 128}, len(text)) && hexadecimal(text)
}

// IsArtifact reports whether a value is a reference to what an earlier step made.
func IsArtifact(value any) bool {
	reference, ok := value.(map[string]any)
	return ok && len(reference) == 1 && reference["$artifact"] != nil
}

// opaque reports whether a value is a digest or an id that is too long to be read.
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
