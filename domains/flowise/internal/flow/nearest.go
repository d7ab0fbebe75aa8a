package flow

import (
	"errors"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/manifold-run/manifold/contracts"
)

// maxCompared bounds the names that a wrong one is compared with.
const maxCompared = 1000

// maxLetters bounds the names that are looked for by their letters.
const maxLetters = 64

// nearest returns the known name that a wrong one was most likely meant to be, or
// "". Of equally near ones the first counts.
func nearest(name string, known []string) string {
	plain := plainName(name)
	best, least := "", len(plain)/3+1
	for _, k := range known[:min(maxCompared, len(known))] {
		candidate := plainName(k)
		d := least
		if apart := len(plain) - len(candidate); len(plain) <= maxLetters && max(apart, -apart) < least {
			d = levenshtein.ComputeDistance(plain, candidate)
		}
		if len(plain) > 3 && (strings.Contains(candidate, plain) || strings.Contains(plain, candidate) && len(candidate) > 3) {
			d = min(d, 2)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// plainName is a name without what people write in several ways.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

func asError(err error) (*contracts.Error, bool) {
	return errors.AsType[*contracts.Error](err)
}
