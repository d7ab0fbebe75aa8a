package stored

import (
	"math"
	"strconv"
	"strings"
)

// Query builds the conditions of a listing, with "?" for arguments. A condition that a filter
// does not need is not in the text, so that the database can use the right index.
type Query struct {
	conditions []string
	args       []any
}

// Where adds a condition, combined by AND.
func (q *Query) Where(condition string, args ...any) {
	q.conditions, q.args = append(q.conditions, condition), append(q.args, args...)
}

// Beyond restricts a listing to the items after a cursor. columns are the sort columns, time and
// id, both sorted in the same direction: "<" for newest first, ">" for oldest first.
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

// Text returns the query for a page, with numbered arguments. It selects one row more than limit,
// which shows whether there is a next page.
func (q *Query) Text(selects, order string, limit int) (text string, args []any) {
	if len(q.conditions) > 0 {
		selects += `WHERE ` + strings.Join(q.conditions, ` AND `) + ` `
	}
	if limit > 0 {
		limit++
	}
	return numbered(selects + order + ` LIMIT 0 + ?`), append(q.args, LimitOf(limit))
}

// LimitOf returns a limit, where one that is not positive means no limit. Statements use it as "0
// + limit", because SQLite prepares a statement again for each bare limit argument.
func LimitOf(limit int) int {
	if limit <= 0 {
		return math.MaxInt32
	}
	return limit
}

// numbered replaces each "?" by the number of its argument.
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
