package sqlite

import "github.com/manifold-run/manifold/internal/store/stored"

// query is the conditions of a listing.
type query struct{ stored.Query }

// text gives the query of a page.
func (q *query) text(selects, order string, limit int) (text string, args []any) {
	most := -1 // SQLite reads a negative limit as none
	if limit > 0 {
		most = limit + 1
	}
	return q.Text(selects, order+` LIMIT +?`, most)
}
