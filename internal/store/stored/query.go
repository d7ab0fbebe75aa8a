package stored

import "strings"

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

// Text gives the query, whose order ends in a limit in the words of the database:
// most is what stands for none, or one row more than the page, which says whether
// there is a next.
func (q *Query) Text(selects, order string, most any) (text string, args []any) {
	if len(q.conditions) > 0 {
		selects += `WHERE ` + strings.Join(q.conditions, ` AND `) + ` `
	}
	return selects + order, append(q.args, most)
}
