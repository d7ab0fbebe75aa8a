package slots

import (
	"strings"
	"unicode"
)

// saysDate reports whether the name of a parameter ends in a word for a date and the description
// lists no values that are not dates.
func (p *param) saysDate() bool {
	if len(p.words) == 0 {
		return false
	}
	for _, v := range p.listed {
		if !strings.ContainsFunc(v, unicode.IsDigit) {
			return false
		}
	}
	switch p.words[len(p.words)-1] {
	case "date", "datum", "fecha":
		return true
	}
	return false
}
