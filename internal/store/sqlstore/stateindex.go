package sqlstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// partialIndex is an index of the runs of some states, in the order of time: by it the newest
// are found, and counted, without reading the rows of others.
type partialIndex struct{ name, where string }

// stateIndexes are those that have all runs of a filter between them; none if it asks for
// those of a session, which are few, or for what only their rows tell.
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

// newestOf selects the newest runs of all indexes: the newest of each, and of these the newest.
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
