package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Row is a row of a query or report; the query determines its columns.
type Row map[string]any

func (Row) identity() string { return "" }

// longestQuery is the longest query that is sent in a URL; a longer one is posted.
const longestQuery = 2000

// Query runs a WQL query and returns up to most rows.
func (c *Client) Query(ctx context.Context, wql string, most int) (Page[Row], error) {
	path := c.cfg.Paths.WQL + "/data"
	if len(wql) <= longestQuery {
		return list[Row](ctx, c, path, url.Values{"query": {wql}}, most)
	}
	body, err := json.Marshal(map[string]string{"query": wql})
	if err != nil {
		return Page[Row]{}, fmt.Errorf("encode %s: %w", path, err)
	}
	return pages(most, url.Values{}, func(query url.Values, page *collection[Row]) error {
		return c.call(ctx, http.MethodPost, path+"?"+query.Encode(), payload{body: body, kind: "application/json", reads: true}, page)
	})
}

// Report runs a custom report that is enabled as a web service; path is "owner/name".
func (c *Client) Report(ctx context.Context, path string, prompts map[string]string) ([]Row, error) {
	owner, name, _ := strings.Cut(path, "/")
	query := url.Values{}
	for prompt, value := range prompts {
		query.Set(prompt, value)
	}
	query.Set("format", "json")
	var out struct {
		Entries []Row `json:"Report_Entry"`
	}
	err := c.get(ctx, c.cfg.Paths.Reports+"/"+url.PathEscape(owner)+"/"+url.PathEscape(name), query, &out)
	return out.Entries, err
}
