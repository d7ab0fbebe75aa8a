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

// Overlay is what an operator says of a service.
type Overlay struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Trusted lets the claims of the service count; without it they are shown and
	// not believed.
	Trusted bool `json:"trusted,omitempty"`
	// Select names what is served; absent, all of it.
	Select *Select `json:"select,omitempty"`
	// Tools are operations by their names; "*suffix" is the one whose name ends so.
	Tools map[string]Tool `json:"tools,omitempty"`
	// Remote are the hosts whose documents may be referred to.
	Remote []string                `json:"remote,omitempty"`
	Tests  []contracts.RoutingTest `json:"tests,omitempty"`
	// Pins are the definitions that somebody has looked at.
	Pins map[string]Definition `json:"pins,omitempty"`
}

// Select is a choice of operations: those that fit one of the lists.
type Select struct {
	// Names and Paths may have "*".
	Names []string `json:"names,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

// Tool is what an operator says of one operation.
type Tool struct {
	// Name is that of the capability [made of the operation's].
	Name string `json:"name,omitempty"`
	// Serve false leaves it out.
	Serve       *bool  `json:"serve,omitempty"`
	Description string `json:"description,omitempty"`
	// Metadata is that of a capability: its class, how it is verified and undone, who
	// may use it, the sentences that lead to it.
	Metadata     contracts.Metadata `json:"metadata,omitzero"`
	OutputSchema json.RawMessage    `json:"output_schema,omitempty"`
	// KeyParam is the parameter, KeyHeader the header, that takes the idempotency key
	// of a write.
	KeyParam  string `json:"key_param,omitempty"`
	KeyHeader string `json:"key_header,omitempty"`
	// Matches makes a search of a read, for the look-ups of others.
	Matches *Matches `json:"matches,omitempty"`
	// Pages describes how the pages of a list follow [what the document says].
	Pages *Pages `json:"pages,omitempty"`
	// ErrorEffect is what a write did that answers with an error [unknown].
	ErrorEffect contracts.Effect `json:"error_effect,omitempty"`
	// AskEffect is what a write did that asks a person while it is under way [unknown].
	AskEffect contracts.Effect `json:"ask_effect,omitempty"`
}

// Matches specifies where the answer of a read has its list, and what of each item is the
// value that a look-up wants, and how that is called.
type Matches struct {
	Items  string `json:"items,omitempty"` // a path with dots ["items"]
	Value  string `json:"value"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// The ways in which pages follow.
const (
	PagesNone   = "none"   // one page is all
	PagesLink   = "link"   // the header Link of the answer (RFC 8288)
	PagesNext   = "next"   // a member of the answer has what Param takes, or the URL
	PagesLast   = "last"   // Param takes a member of the last item
	PagesPage   = "page"   // Param counts pages
	PagesOffset = "offset" // Param counts items
)

// Pages describes how the pages of a list follow each other. Places are paths with dots.
type Pages struct {
	By    string `json:"by"`
	Param string `json:"param,omitempty"`
	// Next is the place of what Param takes; without Param, of the URL of the next page.
	Next string `json:"next,omitempty"`
	Last string `json:"last,omitempty"`
	// First is the number of the first page [1], or item [0].
	First *int `json:"first,omitempty"`
	// More is the place of what is false on the last page, Total of the number of items.
	More  string `json:"more,omitempty"`
	Total string `json:"total,omitempty"`
	// Items is where the list stands [that of Matches, or the only list].
	Items string `json:"items,omitempty"`
	// Size is the parameter for the size of a page; who gives it wants one page.
	Size     string `json:"size,omitempty"`
	MaxPages int    `json:"max_pages,omitempty"` // [10]
	MaxItems int    `json:"max_items,omitempty"` // [1000]
}

// The most that an overlay may ask for.
const mostPages, mostItems = 100, 10_000

// fault is why pages cannot be followed so, "" if they can.
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

// ParseOverlay reads an overlay in YAML, of which JSON is a part. Unknown keys are
// errors.
func ParseOverlay(text []byte) (Overlay, error) {
	var o Overlay
	if len(strings.TrimSpace(string(text))) == 0 {
		return o, nil
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return o, contracts.Errorf(contracts.CodeInvalid, "the overlay is no YAML: %s", yaml.FormatError(err, false, false))
	}
	if string(raw) == "null\n" || string(raw) == "null" { // comments alone
		return o, nil
	}
	if err := contracts.DecodeStrict(raw, &o); err != nil {
		return o, fmt.Errorf("overlay: %w", err)
	}
	return o, nil
}

// tool returns what is said of an operation. A "*suffix" must fit one operation
// only; the names of all are needed for that.
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

// faults lists what the overlay says of operations that are not there, or that
// cannot be told apart.
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

// Takes reports whether an operation is served by the selection; nil takes all. It looks at
// the name, the path and the tags.
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
