package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/openapi"
)

// listing returns a document with one list operation.
func listing(parameters, headers, schema string) string {
	return `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/things":{"get":{"operationId":"listThings","parameters":[` + parameters + `],
		"responses":{"200":{"description":"x","headers":{` + headers + `},"content":{"application/json":{"schema":` + schema + `}}}}}}},
		"components":{"schemas":{"Thing":{"type":"object"},"Meta":{"type":"object","properties":{"continue":{"type":"string"}}}}}}`
}

func inQuery(name, schema string) string {
	return `{"name":"` + name + `","in":"query","schema":` + schema + `}`
}

const (
	text   = `{"type":"string"}`
	number = `{"type":"integer"}`
	things = `{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}`
)

// page returns a page of two of the five items, and the offset of the next one.
func page(from int) (out []map[string]any, next int) {
	for n := from; n < min(from+2, 5); n++ {
		out = append(out, map[string]any{"id": fmt.Sprintf("t%d", n), "name": fmt.Sprintf("Thing %d", n)})
	}
	return out, from + 2
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// paging holds the kinds of pagination, each for a list of five items in pages of two.
var paging = map[string]struct {
	document string
	overlay  string
	one      string // parameters of a call for one page
	answer   func(w http.ResponseWriter, r *http.Request)
}{
	"a link in the header": {
		document: listing(inQuery("page", number)+","+inQuery("per_page", number), `"Link":{"schema":`+text+`}`, things), one: `{"per_page":2}`,
		answer: func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.URL.Query().Get("from"))
			list, next := page(from)
			w.Header().Add("Link", `</things?from=0>; rel="first"; title="a, b"`)
			if next < 5 {
				w.Header().Add("Link", fmt.Sprintf(`<http://%s/things?from=%d>; rel="last next"`, r.Host, next))
			}
			write(w, list)
		},
	},
	"a link that the document does not have": {
		document: listing("", "", things),
		answer: func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.URL.Query().Get("from"))
			list, next := page(from)
			if next < 5 {
				w.Header().Set("Link", fmt.Sprintf(`<?from=%d>; rel=next`, next))
			}
			write(w, list)
		},
	},
	"a token in the body": {
		document: listing(inQuery("page_token", text)+","+inQuery("limit", number), "", `{"type":"object","properties":{"things":`+things+`,"next_page_token":`+text+`}}`), one: `{"page_token":"2"}`,
		answer: func(w http.ResponseWriter, r *http.Request) { cursor(w, r, "page_token", "next_page_token") },
	},
	"a token within the body, by references": {
		document: listing(inQuery("continue", text)+","+inQuery("limit", number), "", `{"type":"object","properties":{"items":`+things+`,"metadata":{"allOf":[{"$ref":"#/components/schemas/Meta"}]}}}`), one: `{"limit":2}`,
		answer: func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			list, next := page(from)
			meta := map[string]any{}
			if next < 5 {
				meta["continue"] = strconv.Itoa(next)
			}
			write(w, map[string]any{"items": list, "metadata": meta})
		},
	},
	"the id of the last item": {
		document: listing(inQuery("starting_after", text)+","+inQuery("limit", number), "", `{"type":"object","properties":{"data":`+things+`,"has_more":{"type":"boolean"}}}`), one: `{"limit":2}`,
		answer: func(w http.ResponseWriter, r *http.Request) {
			from := 0
			if after := r.URL.Query().Get("starting_after"); after != "" {
				from, _ = strconv.Atoi(after[1:])
				from++
			}
			list, next := page(from)
			write(w, map[string]any{"data": list, "has_more": next < 5})
		},
	},
	"the URL of the next page in the body": {
		document: listing("", "", `{"type":"object","properties":{"results":`+things+`,"next":{"type":"string","format":"uri","nullable":true}}}`),
		answer: func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.URL.Query().Get("from"))
			list, next := page(from)
			answer := map[string]any{"results": list, "next": nil}
			if next < 5 {
				answer["next"] = fmt.Sprintf("http://%s/things?from=%d", r.Host, next)
			}
			write(w, answer)
		},
	},
	"numbers of pages": {
		document: listing(inQuery("page", `{"type":"integer","default":1}`)+","+inQuery("page_size", number), "", things), one: `{"page":2}`,
		answer: func(w http.ResponseWriter, r *http.Request) { counted(w, r, "page", 1, 2) },
	},
	"numbers of pages, from nought": {
		document: listing(inQuery("pageNumber", `{"type":"integer","minimum":0}`), "", things), one: `{"pageNumber":0}`,
		answer: func(w http.ResponseWriter, r *http.Request) { counted(w, r, "pageNumber", 0, 2) },
	},
	"numbers of items": {
		document: listing(inQuery("offset", number)+","+inQuery("limit", number), "", `{"type":"object","properties":{"things":`+things+`,"total":{"type":"integer"}}}`), one: `{"limit":2}`,
		answer: func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			list, _ := page(from)
			write(w, map[string]any{"things": list, "total": 5})
		},
	},
	"what only the overlay knows": {
		document: listing(inQuery("p", number)+","+inQuery("n", number), "", `{"type":"object","properties":{"in":{"type":"object"}}}`), one: `{"n":2}`,
		overlay: `{"tools":{"listThings":{"pages":{"by":"page","param":"p","first":7,"items":"in.list","size":"n"}}}}`,
		answer: func(w http.ResponseWriter, r *http.Request) {
			number, err := strconv.Atoi(r.URL.Query().Get("p"))
			if err != nil {
				number = 7
			}
			list, _ := page((number - 7) * 2)
			write(w, map[string]any{"in": map[string]any{"list": list}, "other": []int{1}})
		},
	},
}

func cursor(w http.ResponseWriter, r *http.Request, param, member string) {
	from, _ := strconv.Atoi(r.URL.Query().Get(param))
	list, next := page(from)
	answer := map[string]any{"things": list, member: ""}
	if next < 5 {
		answer[member] = strconv.Itoa(next)
	}
	write(w, answer)
}

func counted(w http.ResponseWriter, r *http.Request, param string, first, size int) {
	number, err := strconv.Atoi(r.URL.Query().Get(param))
	if err != nil {
		number = first
	}
	list, _ := page((number - first) * size)
	if list == nil {
		list = []map[string]any{}
	}
	write(w, list)
}

// ids returns the ids of the items of a result, in order.
func ids(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, part := range strings.Split(string(raw), `"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

// TestThePagesOfAListAreRead according to the document, the response or the overlay. A call that sets a
// page, or its size, gets that page only.
func TestThePagesOfAListAreRead(t *testing.T) {
	t.Parallel()
	for name, tt := range paging {
		base, asked := shop(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "s3cret" {
				t.Errorf("%s: a page is asked for without the credential", name)
			}
			tt.answer(w, r)
		})
		_, url := bridged(t, openapi.Config{Document: document(t, tt.document), Base: base, HTTP: bridge.HTTP{Authorize: func(r *http.Request) error {
			r.Header.Set("Authorization", "s3cret")
			return nil
		}}}, tt.overlay)
		r := execute(t, url, "listThings", `{}`)
		if got := ids(t, r.Facts); !r.OK || got != "t0 t1 t2 t3 t4" || r.Facts["pages_read"] != 3.0 || r.Facts["more_pages"] != nil {
			t.Errorf("%s: %q %v %+v", name, got, r.Facts, r.Error)
		}
		for len(asked) > 0 {
			<-asked
		}
		if tt.one == "" {
			continue
		}
		if r := execute(t, url, "listThings", tt.one); !r.OK || len(strings.Fields(ids(t, r.Facts))) != 2 || r.Facts["pages_read"] != nil || len(asked) != 1 {
			t.Errorf("%s: one page: %v %+v, asked %d times", name, r.Facts, r.Error, len(asked))
		}
	}
}

// TestThereIsAnEndToPages, and the result says that it is incomplete.
func TestThereIsAnEndToPages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pages, want string
		asked       int
	}{
		"ten pages":          {"", "no more than 10 pages are read", 10},
		"as many as is said": {`,"max_pages":3`, "no more than 3 pages are read", 3},
		"items":              {`,"max_pages":90,"max_items":50`, "no more than about 50 items are read", 5},
	} {
		var calls atomic.Int32
		base, _ := shop(t, func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			n, _ := strconv.Atoi(r.URL.Query().Get("page"))
			list := []any{}
			for i := range 10 {
				list = append(list, map[string]any{"id": fmt.Sprintf("%d-%d", n, i)})
			}
			write(w, list)
		})
		overlay := ""
		if tt.pages != "" {
			overlay = `{"tools":{"listThings":{"pages":{"by":"page","param":"page"` + tt.pages + `}}}}`
		}
		_, url := bridged(t, openapi.Config{Document: document(t, listing(inQuery("page", `{"type":"integer","default":1}`), "", things)), Base: base}, overlay)
		r := execute(t, url, "listThings", `{}`)
		if !r.OK || r.Facts["more_pages"] != tt.want || !strings.Contains(r.Summary, "there are more") || int(calls.Load()) != tt.asked {
			t.Errorf("%s: %v %q, asked %d times", name, r.Facts["more_pages"], r.Summary, calls.Load())
		}
	}
}

// TestPagesAreReadOfTheAPIAlone: a link to another host is not followed, a repeated page ends the list,
// and a failed page fails the call.
func TestPagesAreReadOfTheAPIAlone(t *testing.T) {
	t.Parallel()
	other, stolen := shop(t, petAnswer)
	base, asked := shop(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			w.Header().Set("Link", "<"+other+"/things>; rel=next")
		case "/same":
		case "/broken":
			if w.Header().Set("Link", "</broken?page=2>; rel=next"); r.URL.Query().Get("page") != "" {
				w.WriteHeader(http.StatusBadGateway)
			}
		}
		write(w, []map[string]any{{"id": "one"}})
	})
	paths := strings.NewReplacer("/things", "/away", "listThings", "away")
	text := listing(inQuery("page", `{"type":"integer","minimum":1}`), "", things)
	for name, check := range map[string]func(contracts.ToolResult) bool{
		"away": func(r contracts.ToolResult) bool {
			return r.OK && r.Facts["more_pages"] == "the next page is at another address"
		},
		"same": func(r contracts.ToolResult) bool {
			return r.OK && r.Facts["pages_read"] == nil && ids(t, r.Facts) == "one"
		},
		"broken": func(r contracts.ToolResult) bool {
			return !r.OK && r.Error.Retryable && r.Error.Effect == contracts.EffectNone
		},
	} {
		_, url := bridged(t, openapi.Config{Document: document(t, strings.ReplaceAll(paths.Replace(text), "away", name)), Base: base}, "")
		if r := execute(t, url, name, `{}`); !check(r) {
			t.Errorf("%s: %+v %+v", name, r, r.Error)
		}
	}
	if len(stolen) != 0 || len(asked) != 5 {
		t.Errorf("another address was asked %d times, the API %d times", len(stolen), len(asked))
	}
}

// TestALookUpSearchesAllPages, including items that do not fit into the facts.
func TestALookUpSearchesAllPages(t *testing.T) {
	t.Parallel()
	base, _ := shop(t, func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		list := []any{}
		for n := from; n < min(from+25, 100); n++ {
			list = append(list, map[string]any{"id": n, "name": fmt.Sprintf("Lamp %d", n), "text": strings.Repeat("x", 1000)})
		}
		write(w, map[string]any{"data": map[string]any{"lamps": list}})
	})
	text := listing(inQuery("offset", number)+","+inQuery("limit", number), "", `{"type":"object","properties":{"data":{"type":"object"},"total":{"type":"integer"},"list":{"type":"array"}}}`)
	_, url := bridged(t, openapi.Config{Document: document(t, text), Base: base}, `{"tools":{"listThings":{"matches":{"items":"data.lamps","value":"id","label":"name"}}}}`)
	r := execute(t, url, "listThings", `{}`)
	matches, _ := r.Facts["matches"].([]any)
	if last, _ := json.Marshal(matches[max(0, len(matches)-1):]); !r.OK || len(matches) != 100 || string(last) != `[{"label":"Lamp 99","value":99}]` {
		t.Errorf("%d matches, the last %s: %+v", len(matches), last, r.Error)
	}
}

func TestAnOverlayOfPagesIsChecked(t *testing.T) {
	t.Parallel()
	for pages, want := range map[string]string{
		`{"by":"cursor"}`: "by is one of", `{"by":"page","param":"pg"}`: "needs the place", `{"by":"next","param":"page"}`: "needs the place", `{"by":"link","max_pages":1000}`: "at most 100",
	} {
		d, _ := bridged(t, openapi.Config{Document: document(t, listing(inQuery("page", number), "", things)), Base: "https://x.example"}, `{"tools":{"listThings":{"pages":`+pages+`}}}`)
		if _, err := d.Findings(t.Context()); contracts.CodeOf(err) != contracts.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pages, err)
		}
	}
}
