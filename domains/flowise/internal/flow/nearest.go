package flow

import (
	"errors"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/manifold-run/manifold/contracts"
)

// maxCompared bounds the names that are compared with a wrong one.
const maxCompared = 1000

// maxLetters bounds the length of names that are compared by edit distance.
const maxLetters = 64

// nearest returns the known name closest to a wrong one, or "". Of equally close names the first is
// returned.
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

// plainName returns a name without case and separators.
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
