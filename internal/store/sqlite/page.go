package sqlite

import (
	"strings"

	"github.com/manifold-run/manifold/internal/store/stored"
)

// query is the conditions of a listing. What a filter does not ask for stands
// not in the text, so that the right index serves it.
type query struct {
	conditions []string
	args       []any
}

func (q *query) where(condition string, args ...any) {
	q.conditions, q.args = append(q.conditions, condition), append(q.args, args...)
}

// beyond leaves out what a cursor has passed, in a listing that is sorted by
// the columns, time and id, both in the same direction: "<" for the newest
// first, ">" for the oldest.
func (q *query) beyond(cursor, columns, direction string) error {
	if cursor == "" {
		return nil
	}
	at, id, err := stored.ReadMark(cursor)
	if err == nil {
		q.where(`(`+columns+`) `+direction+` (?, ?)`, at, id)
	}
	return err
}

// text gives the query of a page: one row more than the limit says whether
// there is a next.
func (q *query) text(selects, order string, limit int) (text string, args []any) {
	if len(q.conditions) > 0 {
		selects += `WHERE ` + strings.Join(q.conditions, ` AND `) + ` `
	}
	most := -1 // SQLite reads a negative limit as none
	if limit > 0 {
		most = limit + 1
	}
	return selects + order + ` LIMIT ?`, append(q.args, most)
}
