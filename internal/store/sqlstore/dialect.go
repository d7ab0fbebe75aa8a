package sqlstore

import (
	"regexp"
	"strings"
)

// Dialect renders the statements of this package for a database. Their texts contain "$1" for the
// first argument, "{now}" for the clock of the store in nanoseconds, "{any $1}" for a comparison
// with any element of a list, and "{pg:…}{lite:…}" for text that differs between PostgreSQL and
// SQLite.
type Dialect struct {
	// Name is "pg" or "lite".
	Name string
	// Now is the expression for the clock. Any is the comparison with a list, in which "$" is
	// replaced by the argument.
	Now, Any string
}

var (
	anyOf  = regexp.MustCompile(`\{any (\$\d+)\}`)
	choice = regexp.MustCompile(`\{(pg|lite):([^{}]*)\}`)
)

// Render returns the text for the database.
func (d Dialect) Render(text string) string {
	text = strings.ReplaceAll(text, "{now}", d.Now)
	text = anyOf.ReplaceAllStringFunc(text, func(m string) string {
		return strings.ReplaceAll(d.Any, "$", anyOf.FindStringSubmatch(m)[1])
	})
	return choice.ReplaceAllStringFunc(text, func(m string) string {
		if parts := choice.FindStringSubmatch(m); parts[1] == d.Name {
			return parts[2]
		}
		return ""
	})
}
