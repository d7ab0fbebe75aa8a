package slots

import (
	"strings"
	"unicode"
)

// saysDate tells parameters whose name ends in a word for a date, unless the
// description gives values that are none.
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
