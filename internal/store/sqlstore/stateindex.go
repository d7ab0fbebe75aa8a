package sqlstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// partialIndex is an index of the runs in some states, in order of time. It finds and counts the
// newest ones without reading other rows.
type partialIndex struct{ name, where string }

// stateIndexes returns the indexes that together contain all runs of a filter. It returns none
// for a filter by session, which has few runs, or by columns that are not indexed.
func stateIndexes(f execution.RunFilter) []partialIndex {
	if f.SessionID != "" || f.ScoreBelow > 0 || f.Held {
		return nil
	}
	asked := func(states []contracts.RunState) (out []string) {
		for _, s := range states {
			if len(f.States) == 0 || slices.Contains(f.States, s) {
				out = append(out, `'`+string(s)+`'`)
			}
		}
		return out
	}
	var out []partialIndex
	if open := asked(contracts.OpenRunStates()); len(open) > 0 {
		goesOn := ` AND r.finished_at = 0 AND r.state IN (` + strings.Join(open, `, `) + `)`
		out = append(out, partialIndex{"run_awake", `{pg:NOT r.parked}{lite:r.parked = 0}` + goesOn}, partialIndex{"run_parked", `{pg:r.parked}{lite:r.parked = 1}` + goesOn})
	}
	over := "run_over"
	if f.Owner != "" {
		over = "run_over_of"
	}
	for _, state := range asked(contracts.EndRunStates()) {
		out = append(out, partialIndex{over, `r.finished_at > 0 AND r.state = ` + state})
	}
	return out
}

// newestOf returns the query for the newest runs of all indexes: a union of the newest of each.
func newestOf(indexes []partialIndex, selects string, f execution.RunFilter, limit int) (text string, args []any, err error) {
	f.States = nil
	parts := make([]string, 0, len(indexes))
	for _, index := range indexes {
		l, err := listingOf(f, true)
		if err != nil {
			return "", nil, err
		}
		l.Where(index.where)
		text, args = l.Text(strings.Replace(selects, fromRuns, strings.Replace(l.from, fromRuns, fromRuns+`{lite:INDEXED BY `+index.name+` }`, 1), 1), l.order, limit)
		parts = append(parts, `SELECT * FROM (`+text+`) AS `+index.name)
	}
	if len(parts) == 1 {
		return text, args, nil
	}
	// Each part has the same arguments, the limit last.
	return strings.Join(parts, ` UNION ALL `) + ` ORDER BY created_at DESC, id DESC LIMIT 0 + $` + strconv.Itoa(len(args)), args, nil
}
