package contracts

import "strconv"

// List is one page of a listing, and the envelope of every list. Next is the
// cursor of the page after it, absent on the last.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Page asks for a part of a listing: at most Limit items, from the Cursor on
// that the page before gave as its Next. Whoever makes a cursor reads it; to
// everybody else it says nothing.
type Page struct {
	Cursor string
	Limit  int
}

// The sizes of pages.
const (
	PageLimit    = 50   // unless the caller says otherwise
	MaxPageLimit = 200  // whatever the caller says
	MaxEvents    = 1000 // of events and ledger entries, which are small
)

// Bounded returns the page with a limit that is never 0 and never above most.
func (p Page) Bounded(most int) Page {
	if p.Limit <= 0 {
		p.Limit = PageLimit
	}
	return Page{Cursor: p.Cursor, Limit: min(p.Limit, most)}
}

// Seq reads the cursor of what is numbered: the number of the last item.
func (p Page) Seq() (int64, error) {
	if p.Cursor == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(p.Cursor, 10, 64)
	if err != nil || seq < 0 {
		return 0, BadCursor()
	}
	return seq, nil
}

// SeqCursor is the cursor that leads beyond a numbered item.
func SeqCursor(seq int64) string { return strconv.FormatInt(seq, 10) }

// Cut makes a page of what a store gave when it was asked for one item more
// than the limit; key is the cursor that leads beyond an item.
func Cut[T any](found []T, limit int, key func(T) string) List[T] {
	if limit > 0 && len(found) > limit {
		return List[T]{Items: found[:limit:limit], Next: key(found[limit-1])}
	}
	return List[T]{Items: found}
}

// Filtered returns a page of what is kept of a listing, as if there were nothing
// else: what is left out shows neither in counts nor in cursors. fetch gives a page
// of everything.
func Filtered[T any](p Page, fetch func(Page) (List[T], error), keep func(T) bool) (List[T], error) {
	out, at := List[T]{}, p.Cursor
	for {
		all, err := fetch(Page{Cursor: at, Limit: p.Limit})
		if err != nil {
			return List[T]{}, err
		}
		for n, item := range all.Items {
			switch {
			case !keep(item):
			case len(out.Items) == p.Limit:
				return out, nil // Next leads to it
			default:
				if out.Items = append(out.Items, item); len(out.Items) < p.Limit {
					continue
				}
				upTo, err := fetch(Page{Cursor: at, Limit: n + 1})
				if err != nil {
					return List[T]{}, err
				}
				out.Next = upTo.Next
			}
		}
		if at = all.Next; at == "" {
			out.Next = ""
			return out, nil
		}
	}
}

// BadCursor refuses a cursor that no page has given.
func BadCursor() error {
	return Invalid("the cursor is not valid", Fault{Pointer: "/cursor", Message: "is of no page of this listing; begin without one"})
}
