package rest

import (
	"context"
	"net/url"
	"strconv"
)

const pageSize = 100

// identified is a row of a collection.
type identified interface{ identity() string }

// Page is what was read of a collection.
type Page[T any] struct {
	Items []T
	// Total is the number that the tenant says there are.
	Total int
}

// list reads a collection page by page, up to most rows. Rows that move
// between two pages while they are read are kept once.
func list[T identified](ctx context.Context, c *Client, path string, query url.Values, most int) (Page[T], error) {
	var all Page[T]
	seen := map[string]bool{}
	if query == nil {
		query = url.Values{}
	}
	for offset := 0; len(all.Items) < most; offset += pageSize {
		query.Set("limit", strconv.Itoa(min(pageSize, most)))
		query.Set("offset", strconv.Itoa(offset))
		var page struct {
			Total int `json:"total"`
			Data  []T `json:"data"`
		}
		if err := c.get(ctx, path, query, &page); err != nil {
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
