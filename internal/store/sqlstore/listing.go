package sqlstore

import (
	"context"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// listing is a query for runs, newest first.
type listing struct {
	stored.Query

	// from is the FROM clause, order the ORDER BY clause.
	from, order string
}

const fromRuns = `FROM run r `

// ListRuns returns runs, newest first.
func (s *RunStore) ListRuns(ctx context.Context, f execution.RunFilter) (contracts.List[execution.Run], error) {
	text, args, err := selectedRuns(f)
	if err != nil {
		return contracts.List[execution.Run]{}, err
	}
	runs, err := readAll(ctx, s.core, "list runs", stored.ScanRun, text, args...)
	return contracts.Cut(runs, f.Limit, func(r execution.Run) string { return stored.Mark(r.CreatedAt, r.ID) }), err
}

func selectedRuns(f execution.RunFilter) (text string, args []any, err error) {
	selects := selectRun
	if f.Brief {
		selects = selectBrief
	}
	if indexes := stateIndexes(f); len(f.States) > 0 && f.Goal == "" && f.Domain == "" && len(indexes) > 0 {
		return newestOf(indexes, selects, f, f.Limit)
	}
	l, err := listingOf(f, false)
	if err != nil {
		return "", nil, err
	}
	text, args = l.Text(strings.Replace(selects, fromRuns, l.from, 1), l.order, f.Limit)
	return text, args, nil
}

// CountRuns counts by state the newest runs that match the filter, at most Limit.
func (s *RunStore) CountRuns(ctx context.Context, f execution.RunFilter) (map[contracts.RunState]int, error) {
	text, args, err := countedRuns(f, max(f.Limit-1, 0))
	if err != nil {
		return nil, err
	}
	counts := map[contracts.RunState]int{}
	_, err = readAll(ctx, s.core, "count runs", func(row stored.Row) (n int, err error) {
		var state contracts.RunState
		err = row.Scan(&state, &n)
		counts[state] = n
		return n, err
	}, `SELECT state, count(*) FROM (`+text+`) AS newest GROUP BY state`, args...)
	return counts, err
}

func countedRuns(f execution.RunFilter, limit int) (text string, args []any, err error) {
	if indexes := stateIndexes(f); len(indexes) > 0 {
		return newestOf(indexes, `SELECT r.state, r.created_at, r.id `+fromRuns, f, limit)
	}
	l, err := listingOf(f, false)
	if err != nil {
		return "", nil, err
	}
	text, args = l.Text(`SELECT r.state `+l.from, l.order, limit)
	return text, args, nil
}

// listingOf returns the query for a filter. With runsFirst, goals and domains are looked up for
// each run; otherwise the query starts with them.
func listingOf(f execution.RunFilter, runsFirst bool) (*listing, error) {
	l := &listing{from: fromRuns, order: `ORDER BY r.created_at DESC, r.id DESC`}
	if f.SessionID != "" {
		l.Where(`r.session_id = ?`, f.SessionID)
	}
	if f.Owner != "" {
		l.Where(`r.requester = ?`, f.Owner)
	}
	if len(f.States) > 0 {
		l.Where(`r.state {any ?}`, stored.Texts(f.States))
	}
	if !f.Before.IsZero() {
		l.Where(`r.created_at < ?`, stored.Nanos(f.Before))
	}
	if f.ScoreBelow > 0 {
		l.Where(`CASE WHEN r.verdict <> '' THEN {pg:(r.verdict::jsonb->>'score')::float8}{lite:json_extract(r.verdict, '$.score')} END < ?`, f.ScoreBelow)
	}
	if f.Held {
		l.Where(`r.finished_at = 0 AND r.id IN (SELECT q.run_id FROM quarantine q)`)
	}
	return l, l.search(f, runsFirst || f.SessionID != "" || f.Owner != "")
}

// search adds the conditions on goals and domains. It reads run_search from the newest run on,
// unless runsFirst is set.
func (l *listing) search(f execution.RunFilter, runsFirst bool) error {
	at := `r.created_at, r.id`
	if f.Goal != "" || f.Domain != "" {
		l.from = fromRuns + `{lite:CROSS }JOIN run_search s ON s.created_at = r.created_at AND s.run_id = r.id `
		if !runsFirst {
			l.from = `FROM run_search s {lite:CROSS }JOIN run r ON r.id = s.run_id `
			at, l.order = `s.created_at, s.run_id`, `ORDER BY s.created_at DESC, s.run_id DESC`
		}
	}
	if f.Goal != "" {
		l.Where(`{pg:strpos}{lite:instr}(s.goal, CAST(? AS TEXT)) > 0`, lower(f.Goal))
	}
	if f.Domain != "" {
		l.Where(`{pg:strpos}{lite:instr}(s.domains, CAST(? AS TEXT)) > 0`, ","+f.Domain+",")
	}
	return l.Beyond(f.Cursor, at, `<`)
}

// searchable returns the searchable columns of a run: its goal in lower case, and the domains of
// its plan, delimited by commas.
func searchable(plan contracts.Plan) (goal, domains string) {
	var all []string
	for i := range plan.Nodes {
		if domain, _, ok := strings.Cut(plan.Nodes[i].Tool, "."); ok && !slices.Contains(all, domain) {
			all = append(all, domain)
		}
	}
	if len(all) > 0 {
		domains = "," + strings.Join(all, ",") + ","
	}
	return lower(plan.Goal), domains
}

// lower returns a text with ASCII letters in lower case, as both databases do.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
