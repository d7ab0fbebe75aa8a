package stored

import (
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Mark is a place in a listing that is ordered by time and id. As a cursor it
// is that of the last item of a page, written "nanoseconds.id".
func Mark(at time.Time, id string) string { return strconv.FormatInt(Nanos(at), 10) + "." + id }

// ReadMark is the opposite of Mark.
func ReadMark(cursor string) (at int64, id string, err error) {
	text, id, _ := strings.Cut(cursor, ".")
	at, err = strconv.ParseInt(text, 10, 64)
	if err != nil || id == "" {
		return 0, "", contracts.BadCursor()
	}
	return at, id, nil
}
