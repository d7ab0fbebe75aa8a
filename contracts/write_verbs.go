package contracts

import (
	_ "embed" // the data file below
	"fmt"
	"strings"
	"unicode"
)

//go:embed write_verbs.json
var writeVerbsJSON []byte

// WriteVerbs is a set of verbs in capability names that suggest a write.
type WriteVerbs map[string]bool

// LoadWriteVerbs returns the embedded list of write verbs.
func LoadWriteVerbs() (WriteVerbs, error) {
	var file struct {
		Comment string   `json:"comment"`
		Verbs   []string `json:"verbs"`
	}
	if err := DecodeStrict(writeVerbsJSON, &file); err != nil {
		return nil, fmt.Errorf("write verbs: %w", err)
	}
	out := WriteVerbs{}
	for _, v := range file.Verbs {
		out[v] = true
	}
	return out, nil
}

// FirstWord returns the first word of a name such as create_x, create-x or createX.
func FirstWord(name string) string {
	words := NameWords(name)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// In returns the first write verb anywhere in a name, or "". It does not check only the first
// word, because names may have a prefix.
func (v WriteVerbs) In(name string) string {
	for _, w := range NameWords(name) {
		if v[w] {
			return w
		}
	}
	return ""
}

// NameWords splits a name into lower-case words at other characters than letters and digits and
// at capitals.
func NameWords(name string) []string {
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
