package flow

import (
	"errors"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// nearest gives the known name that a wrong one was most likely meant to be, or
// "". Of equally near ones the first counts.
func nearest(name string, known []string) string {
	plain := plainName(name)
	best, least := "", len(plain)/3+1
	for _, k := range known {
		candidate := plainName(k)
		d := distance(plain, candidate)
		if len(plain) > 3 && (strings.Contains(candidate, plain) || strings.Contains(plain, candidate) && len(candidate) > 3) {
			d = min(d, 2)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
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
