package contracts

import "strconv"

// List is one page of a listing and the envelope of every list. Next is the cursor of the next
// page. It is absent on the last page.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Page selects a part of a listing: at most Limit items after Cursor, which is the Next of the
// previous page. Cursors are opaque to callers.
type Page struct {
	Cursor string
	Limit  int
}

// The page sizes.
const (
	PageLimit    = 50   // if the caller sets none
	MaxPageLimit = 200  // whatever the caller sets
	MaxEvents    = 1000 // for events and ledger entries, which are small
)

// Bounded returns the page with its limit restricted to 1 to most. A limit of 0 becomes PageLimit.
func (p Page) Bounded(most int) Page {
	if p.Limit <= 0 {
		p.Limit = PageLimit
	}
	return Page{Cursor: p.Cursor, Limit: min(p.Limit, most)}
}

// Seq returns the cursor of a numbered listing, which is the number of the last item, or 0
// without a cursor. It returns BadCursor for an invalid one.
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

// SeqCursor returns the cursor that continues after a numbered item.
func SeqCursor(seq int64) string { return strconv.FormatInt(seq, 10) }

// Cut returns the page for a result that was fetched with one item more than limit. key returns
// the cursor that continues after an item.
func Cut[T any](found []T, limit int, key func(T) string) List[T] {
	if limit > 0 && len(found) > limit {
		return List[T]{Items: found[:limit:limit], Next: key(found[limit-1])}
	}
	return List[T]{Items: found}
}

// Filtered returns a page of the items that keep accepts. Rejected items affect neither counts
// nor cursors. fetch returns a page of the unfiltered listing.
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
				return out, nil // Next continues there
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

// BadCursor returns the error for a cursor that does not belong to the listing.
func BadCursor() error {
	return Invalid("the cursor is not valid", Fault{Pointer: "/cursor", Message: "is of no page of this listing; begin without one"})
}
