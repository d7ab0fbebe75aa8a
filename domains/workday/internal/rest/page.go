package rest

import (
	"context"
	"net/url"
	"strconv"
)

const pageSize = 100

// identified is a row of a collection with an identity.
type identified interface{ identity() string }

// Page holds the rows read from a collection.
type Page[T any] struct {
	Items []T
	// Total is the number of rows according to the tenant.
	Total int
}

// list reads a collection page by page, up to most rows. A row that moves between two pages during
// the read is returned once.
func list[T identified](ctx context.Context, c *Client, path string, query url.Values, most int) (Page[T], error) {
	if query == nil {
		query = url.Values{}
	}
	return pages(most, query, func(query url.Values, page *collection[T]) error { return c.get(ctx, path, query, page) })
}

// collection is one page as the tenant sends it.
type collection[T any] struct {
	Total int `json:"total"`
	Data  []T `json:"data"`
}

// pages reads one page after another with get.
func pages[T identified](most int, query url.Values, get func(query url.Values, page *collection[T]) error) (Page[T], error) {
	var all Page[T]
	seen := map[string]bool{}
	for offset := 0; len(all.Items) < most; offset += pageSize {
		query.Set("limit", strconv.Itoa(min(pageSize, most)))
		query.Set("offset", strconv.Itoa(offset))
		var page collection[T]
		if err := get(query, &page); err != nil {
			return Page[T]{}, err
		}
		all.Total = page.Total
		for _, item := range page.Data {
			if id := item.identity(); id == "" || !seen[id] {
				seen[id] = true
				all.Items = append(all.Items, item)
			}
		}
		if len(page.Data) == 0 || offset+len(page.Data) >= page.Total {
			break
		}
	}
	if len(all.Items) > most {
		all.Items = all.Items[:most]
	}
	return all, nil
}
