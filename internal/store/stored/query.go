package stored

import (
	"math"
	"strconv"
	"strings"
)

// Query is the conditions of a listing, in which "?" stands for an argument. What a
// filter does not ask for stands not in the text, so that the right index serves it.
type Query struct {
	conditions []string
	args       []any
}

// Where adds a condition.
func (q *Query) Where(condition string, args ...any) {
	q.conditions, q.args = append(q.conditions, condition), append(q.args, args...)
}

// Beyond leaves out what a cursor has passed, in a listing that is sorted by the
// columns, time and id, both in the same direction: "<" for the newest first, ">"
// for the oldest.
func (q *Query) Beyond(cursor, columns, direction string) error {
	if cursor == "" {
		return nil
	}
	at, id, err := ReadMark(cursor)
	if err == nil {
		q.Where(`(`+columns+`) `+direction+` (?, ?)`, at, id)
	}
	return err
}

// Text returns the query of a page, with one row more, which reports whether there is
// a next. Its arguments are numbered.
func (q *Query) Text(selects, order string, limit int) (text string, args []any) {
	if len(q.conditions) > 0 {
		selects += `WHERE ` + strings.Join(q.conditions, ` AND `) + ` `
	}
	if limit > 0 {
		limit++
	}
	return numbered(selects + order + ` LIMIT 0 + ?`), append(q.args, LimitOf(limit))
}

// LimitOf is a limit, where one that is not positive is none. In a statement it
// is added to 0: SQLite plans one again for each limit that is an argument alone.
func LimitOf(limit int) int {
	if limit <= 0 {
		return math.MaxInt32
	}
	return limit
}

// numbered writes each "?" as the number of its argument.
func numbered(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}
