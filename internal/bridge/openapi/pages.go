package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
)

const (
	// maxPages and maxItems bound the reading of a list, unless the overlay sets other limits.
	maxPages = 10
	maxItems = 1000
	// maxPagesBytes bounds all pages together.
	maxPagesBytes = contracts.MaxArtifactBytes / 2
)

// pager reads the pages of one list.
type pager struct {
	api    *API
	op     *operation
	call   bridge.Call
	how    bridge.Pages
	asked  bool // the overlay defines the pagination; otherwise a Link header takes precedence
	list   []any
	last   *answer
	pages  int
	bytes  int
	broken string // why the next page is not read although there is one
}

// pager returns nil if only one page is to be read: the call is a write, sets the page or its size, or
// the pagination is unknown.
func (a *API) pager(op *operation, c bridge.Call) *pager {
	p := &pager{api: a, op: op, call: c, how: op.pages}
	if c.Tool.Pages != nil {
		p.how, p.asked = *c.Tool.Pages, true
		p.how.Size = cmp.Or(p.how.Size, op.pages.Size)
	}
	if c.Writes || op.given(p.how.Param, c) || op.given(p.how.Size, c) || p.how.By == bridge.PagesNone {
		return nil
	}
	p.how.MaxPages, p.how.MaxItems = cmp.Or(p.how.MaxPages, maxPages), cmp.Or(p.how.MaxItems, maxItems)
	if p.how.Items == "" && c.Tool.Matches != nil {
		p.how.Items = c.Tool.Matches.Items
	}
	return p
}

// given reports whether a parameter has a value other than its default.
func (o *operation) given(name string, c bridge.Call) bool {
	value, there := c.Arguments[name]
	return there && !reflect.DeepEqual(value, o.defaults[name])
}

// read reads the pages after the first, and returns all as one result. If a page fails, the call
// fails: a partial list must not look complete.
func (p *pager) read(ctx context.Context, first *answer) (contracts.ToolResult, error) {
	list, ok := p.listOf(first.value)
	if !ok {
		return first.result()
	}
	p.take(first, list)
	for {
		next, more := p.next()
		if !more {
			return p.result()
		}
		if p.broken = cmp.Or(p.broken, p.over()); p.broken != "" {
			return p.result()
		}
		page, err := p.api.send(ctx, p.op, next.call, next.url)
		if err != nil {
			return contracts.ToolResult{}, err
		}
		if list, ok = p.listOf(page.value); !ok || len(list) == 0 || p.repeats(list) {
			return p.result()
		}
		p.take(page, list)
	}
}

func (p *pager) take(page *answer, list []any) {
	p.last, p.list = page, append(p.list, list...)
	p.pages, p.bytes = p.pages+1, p.bytes+len(page.body)
}

// over returns which limit is reached, "" if none is.
func (p *pager) over() string {
	switch {
	case p.pages >= p.how.MaxPages:
		return fmt.Sprintf("no more than %d pages are read", p.how.MaxPages)
	case len(p.list) >= p.how.MaxItems:
		return fmt.Sprintf("no more than about %d items are read", p.how.MaxItems)
	case p.bytes >= maxPagesBytes:
		return fmt.Sprintf("no more than %d bytes are read", maxPagesBytes)
	}
	return ""
}

// repeats reports whether a page equals the previous one: the API ignores the parameter.
func (p *pager) repeats(list []any) bool {
	return len(p.list) >= len(list) && reflect.DeepEqual(p.list[len(p.list)-len(list):], list)
}

// nextPage is the request for a page: a call, or a URL.
type nextPage struct {
	call bridge.Call
	url  *url.URL
}

// next returns the request for the next page.
func (p *pager) next() (n nextPage, more bool) {
	n.call = p.call
	if link := p.last.nextLink(); link != "" && (!p.asked || p.how.By == bridge.PagesLink) {
		return p.at(link)
	}
	if at(p.last.value, p.how.More) == false {
		return n, false
	}
	if all, ok := at(p.last.value, p.how.Total).(float64); ok && len(p.list) >= int(all) {
		return n, false
	}
	var value any
	switch p.how.By {
	case bridge.PagesNext:
		if value = at(p.last.value, p.how.Next); p.how.Param == "" {
			link, _ := value.(string)
			return p.at(link)
		}
	case bridge.PagesLast:
		value = at(p.list[max(0, len(p.list)-1):], "0."+p.how.Last)
	case bridge.PagesPage:
		value = p.first(1) + p.pages
	case bridge.PagesOffset:
		value = p.first(0) + len(p.list)
	}
	if value == nil || value == "" || value == false || len(p.list) == 0 {
		return n, false
	}
	n.call.Arguments = maps.Clone(p.call.Arguments)
	if n.call.Arguments == nil {
		n.call.Arguments = map[string]any{}
	}
	n.call.Arguments[p.how.Param] = value
	return n, true
}

func (p *pager) first(otherwise int) int {
	if p.how.First != nil {
		return *p.how.First
	}
	return otherwise
}

// at follows a link, but only to the API itself, because the request carries the credential.
func (p *pager) at(link string) (n nextPage, more bool) {
	if link == "" {
		return n, false
	}
	to, err := url.Parse(link)
	if err == nil {
		to = p.last.from.ResolveReference(to)
	}
	if err != nil || to.Scheme != p.api.base.Scheme || to.Host != p.api.base.Host || to.User != nil {
		p.broken = "the next page is at another address"
	}
	n.call, n.url = p.call, to
	return n, true
}

// result returns the last page with the items of all pages, and says whether there are more.
func (p *pager) result() (contracts.ToolResult, error) {
	if p.pages == 1 && p.broken == "" {
		return p.last.result()
	}
	value, all := p.last.value, any(p.list)
	facts, isObject := value.(map[string]any)
	if isObject {
		setAt(facts, p.placeOf(facts), p.list)
		all = facts
	} else {
		facts = map[string]any{"items": p.list}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return contracts.ToolResult{}, err
	}
	facts["pages_read"] = p.pages
	if p.broken != "" {
		facts["more_pages"] = p.broken
	}
	result, err := bridge.Result(facts, "")
	result.Data = contracts.NewOpaque(raw)
	if p.broken != "" {
		result.Summary = contracts.CleanSummary(fmt.Sprintf("The first %d items of %d pages; there are more (%s): %s", len(p.list), p.pages, p.broken, result.Summary))
	}
	return result, err
}

// listOf returns the list of a page.
func (p *pager) listOf(value any) ([]any, bool) {
	if list, ok := value.([]any); ok {
		return list, true
	}
	facts, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	place := p.placeOf(facts)
	list, ok := at(facts, place).([]any)
	return list, ok && place != ""
}

// listNames are common names of the main list of a response that has several lists.
var listNames = []string{"items", "data", "results", "entries", "values", "records", "elements", "resources", "rows"}

// placeOf returns the path of the list: that of the overlay, or that of the only list.
func (p *pager) placeOf(facts map[string]any) string {
	if p.how.Items != "" {
		return p.how.Items
	}
	var lists []string
	for name, v := range facts {
		if _, is := v.([]any); is {
			lists = append(lists, name)
		}
	}
	if len(lists) == 1 {
		return lists[0]
	}
	for _, name := range listNames {
		if slices.Contains(lists, name) {
			return name
		}
	}
	return ""
}

// at follows a dotted path.
func at(v any, path string) any {
	for path != "" && v != nil {
		var head string
		head, path, _ = strings.Cut(path, ".")
		switch parent := v.(type) {
		case map[string]any:
			if whole, there := parent[head+"."+path]; there && path != "" { // as in @odata.nextLink
				return whole
			}
			v = parent[head]
		case []any:
			if head != "0" || len(parent) == 0 {
				return nil
			}
			v = parent[0]
		default:
			return nil
		}
	}
	return v
}

func setAt(facts map[string]any, path string, v any) {
	head, rest, deeper := strings.Cut(path, ".")
	if inner, ok := facts[head].(map[string]any); ok && deeper {
		setAt(inner, rest, v)
		return
	}
	facts[head] = v
}

// nextLink returns the link to the next page from the Link header (RFC 8288).
func (a *answer) nextLink() string {
	for _, header := range a.header.Values("Link") {
		for len(header) > 0 {
			_, rest, ok := strings.Cut(header, "<")
			target, rest, closed := strings.Cut(rest, ">")
			if !ok || !closed {
				break
			}
			params := rest[:endOfParams(rest)]
			header = rest[len(params):]
			if hasRel(params, "next") {
				return target
			}
		}
	}
	return ""
}

// endOfParams returns the index of the comma before the next link, outside of quotes.
func endOfParams(text string) int {
	quoted := false
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ',' && !quoted:
			return i
		}
	}
	return len(text)
}

func hasRel(params, want string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") {
			return slices.ContainsFunc(strings.Fields(strings.Trim(strings.TrimSpace(value), `"`)), func(rel string) bool { return strings.EqualFold(rel, want) })
		}
	}
	return false
}

// answer is a successful response of the API.
type answer struct {
	from   *url.URL
	status int
	header http.Header
	body   []byte
	value  any // of JSON, otherwise nil
}
