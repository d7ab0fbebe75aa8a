// Package writeverb knows the words by which names tell that something is
// changed. A read that is named by one is suspicious, whoever declares it.
package writeverb

import (
	_ "embed" // the data file below
	"fmt"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
)

//go:embed verbs.json
var verbsJSON []byte

// Verbs are such words.
type Verbs map[string]bool

// Load reads the words.
func Load() (Verbs, error) {
	var file struct {
		Comment string   `json:"comment"`
		Verbs   []string `json:"verbs"`
	}
	if err := contracts.DecodeStrict(verbsJSON, &file); err != nil {
		return nil, fmt.Errorf("write verbs: %w", err)
	}
	out := Verbs{}
	for _, v := range file.Verbs {
		out[v] = true
	}
	return out, nil
}

// First gives the first word of a name such as create_x, create-x or createX.
func First(name string) string {
	words := Words(name)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// In gives the first such word anywhere in a name, "" without one: names that
// carry a prefix begin with no verb.
func (v Verbs) In(name string) string {
	for _, w := range Words(name) {
		if v[w] {
			return w
		}
	}
	return ""
}

// Words splits a name at everything but letters and digits, and where a capital
// begins a word.
func Words(name string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out = append(out, humps(part)...)
	}
	return out
}

// humps splits createX and HTTPRequest.
func humps(part string) []string {
	runes, from := []rune(part), 0
	var out []string
	for i := 1; i < len(runes); i++ {
		begins := unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			out = append(out, strings.ToLower(string(runes[from:i])))
			from = i
		}
	}
	return append(out, strings.ToLower(string(runes[from:])))
}
