package stored

import (
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Mark returns the position of an item in a listing sorted by time and id, written
// "nanoseconds.id". The mark of the last item of a page is the cursor of the next.
func Mark(at time.Time, id string) string { return strconv.FormatInt(Nanos(at), 10) + "." + id }

// ReadMark is the inverse of Mark. It returns contracts.BadCursor for an invalid cursor.
func ReadMark(cursor string) (at int64, id string, err error) {
	text, id, _ := strings.Cut(cursor, ".")
	at, err = strconv.ParseInt(text, 10, 64)
	if err != nil || id == "" {
		return 0, "", contracts.BadCursor()
	}
	return at, id, nil
}
