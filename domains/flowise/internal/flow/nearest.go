package flow

import (
	"errors"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxCompared bounds the names that a wrong one is compared with.
const maxCompared = 1000

// nearest gives the known name that a wrong one was most likely meant to be, or
// "". Of equally near ones the first counts.
func nearest(name string, known []string) string {
	plain := plainName(name)
	best, least := "", len(plain)/3+1
	for _, k := range known[:min(maxCompared, len(known))] {
		candidate := plainName(k)
		d := least
		if apart := len(plain) - len(candidate); max(apart, -apart) < least {
			d = distance(plain, candidate)
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

// distance is the number of letters to add, drop or change.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func asError(err error) (*contracts.Error, bool) {
	return errors.AsType[*contracts.Error](err)
}
