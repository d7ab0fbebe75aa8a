package sqlite

import (
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// mark is a place in a listing that is ordered by time and id. As a cursor it
// is that of the last item of a page, written "nanoseconds.id".
func mark(at time.Time, id string) string { return strconv.FormatInt(nanos(at), 10) + "." + id }

func readMark(cursor string) (at int64, id string, err error) {
	text, id, _ := strings.Cut(cursor, ".")
	at, err = strconv.ParseInt(text, 10, 64)
	if err != nil || id == "" {
		return 0, "", contracts.BadCursor()
	}
	return at, id, nil
}

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
	at, id, err := readMark(cursor)
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
