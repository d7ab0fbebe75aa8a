package bridge

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/manifold-run/manifold/contracts"
)

// Overlay is an operator's configuration of a service.
type Overlay struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Trusted accepts the claims of the service; otherwise they are only shown.
	Trusted bool `json:"trusted,omitempty"`
	// Select selects the served operations; nil selects all.
	Select *Select `json:"select,omitempty"`
	// Tools configures operations by name; "*suffix" matches the one with that suffix.
	Tools map[string]Tool `json:"tools,omitempty"`
	// Remote are the hosts that documents may be referenced from.
	Remote []string                `json:"remote,omitempty"`
	Tests  []contracts.RoutingTest `json:"tests,omitempty"`
	// Pins are the reviewed definitions.
	Pins map[string]Definition `json:"pins,omitempty"`
}

// Select selects the operations that match one of its lists.
type Select struct {
	// Names and Paths may contain "*".
	Names []string `json:"names,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

// Tool is an operator's configuration of one operation.
type Tool struct {
	// Name is the name of the capability [derived from the operation's].
	Name string `json:"name,omitempty"`
	// Serve excludes the operation if false.
	Serve       *bool  `json:"serve,omitempty"`
	Description string `json:"description,omitempty"`
	// Metadata is the capability's metadata: its class, verification and compensation, its users,
	// and example sentences.
	Metadata     contracts.Metadata `json:"metadata,omitzero"`
	OutputSchema json.RawMessage    `json:"output_schema,omitempty"`
	// KeyParam is the parameter, KeyHeader the header, for the idempotency key of a write.
	KeyParam  string `json:"key_param,omitempty"`
	KeyHeader string `json:"key_header,omitempty"`
	// Matches makes a read usable as a search in lookups.
	Matches *Matches `json:"matches,omitempty"`
	// Pages describes the pagination of a list [as the document says].
	Pages *Pages `json:"pages,omitempty"`
	// ErrorEffect is the effect of a write that returns an error [unknown].
	ErrorEffect contracts.Effect `json:"error_effect,omitempty"`
	// AskEffect is the effect of a write at the time when it asks a person [unknown].
	AskEffect contracts.Effect `json:"ask_effect,omitempty"`
}

// Matches specifies the list in a read's result, and which members of an item are the value and the
// label of a lookup.
type Matches struct {
	Items  string `json:"items,omitempty"` // a dotted path ["items"]
	Value  string `json:"value"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// The kinds of pagination.
const (
	PagesNone   = "none"   // one page only
	PagesLink   = "link"   // the Link header of the response (RFC 8288)
	PagesNext   = "next"   // a member of the response is the next value of Param, or the URL
	PagesLast   = "last"   // Param takes a member of the last item
	PagesPage   = "page"   // Param is a page number
	PagesOffset = "offset" // Param is an item offset
)

// Pages describes the pagination of a list. Places are dotted paths.
type Pages struct {
	By    string `json:"by"`
	Param string `json:"param,omitempty"`
	// Next is the place of the next value of Param, or of the next URL if Param is empty.
	Next string `json:"next,omitempty"`
	Last string `json:"last,omitempty"`
	// First is the number of the first page [1], or item [0].
	First *int `json:"first,omitempty"`
	// More is the place of a flag that is false on the last page, Total that of the number of items.
	More  string `json:"more,omitempty"`
	Total string `json:"total,omitempty"`
	// Items is the place of the list [that of Matches, or the only list].
	Items string `json:"items,omitempty"`
	// Size is the page size parameter; a call that sets it gets one page only.
	Size     string `json:"size,omitempty"`
	MaxPages int    `json:"max_pages,omitempty"` // [10]
	MaxItems int    `json:"max_items,omitempty"` // [1000]
}

// The maximum limits of an overlay.
const mostPages, mostItems = 100, 10_000

// fault returns why this pagination does not fit an operation, "" if it does.
func (p *Pages) fault(d Definition) string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(d.InputSchema, &schema) // without a schema there is no parameter
	_, known := schema.Properties[p.Param]
	needs := map[string]bool{
		PagesNone: true, PagesLink: true, PagesNext: p.Next != "" && (p.Param == "" || known), PagesLast: p.Last != "" && known, PagesPage: known, PagesOffset: known,
	}
	fits, there := needs[p.By]
	switch {
	case !d.Plain:
		return "are those of operations of OpenAPI documents"
	case !there:
		return "by is one of link, next, last, page, offset, none"
	case !fits:
		return "by " + p.By + " needs the place, and a parameter that the operation has"
	case p.MaxPages < 0 || p.MaxPages > mostPages || p.MaxItems < 0 || p.MaxItems > mostItems:
		return fmt.Sprintf("at most %d pages, and %d items, may be read", mostPages, mostItems)
	}
	return ""
}

// ParseOverlay parses an overlay in YAML or JSON. Unknown keys are errors.
func ParseOverlay(text []byte) (Overlay, error) {
	var o Overlay
	if len(strings.TrimSpace(string(text))) == 0 {
		return o, nil
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return o, contracts.Errorf(contracts.CodeInvalid, "the overlay is no YAML: %s", yaml.FormatError(err, false, false))
	}
	if string(raw) == "null\n" || string(raw) == "null" { // only comments
		return o, nil
	}
	if err := contracts.DecodeStrict(raw, &o); err != nil {
		return o, fmt.Errorf("overlay: %w", err)
	}
	return o, nil
}

// tool returns the configuration of an operation. A "*suffix" must match one operation only; faults
// checks that.
func (o Overlay) tool(name string) Tool {
	if t, ok := o.Tools[name]; ok {
		return t
	}
	for pattern, t := range o.Tools {
		if suffix, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasSuffix(name, suffix) {
			return t
		}
	}
	return Tool{}
}

// faults lists configurations that match no operation, or several.
func (o Overlay) faults(defs []Definition) []contracts.Fault {
	var out []contracts.Fault
	for _, pattern := range sortedKeys(o.Tools) {
		suffix, open := strings.CutPrefix(pattern, "*")
		n, pages := 0, o.Tools[pattern].Pages
		for _, d := range defs {
			if d.Name == pattern || open && strings.HasSuffix(d.Name, suffix) {
				n++
				if pages == nil {
					continue
				}
				if why := pages.fault(d); why != "" {
					out = append(out, contracts.Fault{Pointer: "/tools/" + contracts.EscapeToken(pattern) + "/pages", Message: why})
				}
			}
		}
		if n != 1 {
			out = append(out, contracts.Fault{Pointer: "/tools/" + contracts.EscapeToken(pattern), Message: fmt.Sprintf("fits %d operations; it must fit one", n)})
		}
	}
	return out
}

// Takes reports whether the selection includes an operation, by name, path or tag; nil includes all.
func (s *Select) Takes(d Definition) bool {
	if s == nil {
		return true
	}
	return slices.ContainsFunc(s.Names, func(p string) bool { return fits(p, d.Name) }) ||
		slices.ContainsFunc(s.Paths, func(p string) bool { return d.Path != "" && fits(p, d.Path) }) ||
		slices.ContainsFunc(s.Tags, func(t string) bool { return slices.Contains(d.Tags, t) })
}

func fits(pattern, text string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return err == nil && ok
}
