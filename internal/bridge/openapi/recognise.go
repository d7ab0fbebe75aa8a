package openapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/internal/bridge"
)

// described is the part of an operation's successful response that reveals its pagination.
type described struct {
	link   bool // it has a Link header
	list   bool // it is a list, or has one
	fields map[string]field
}

// field is a member of a response, by its dotted path.
type field struct{ kind, format string }

// containers are members of a response that often hold pagination data.
var containers = []string{"metadata", "meta", "links", "pages", "page", "paging", "pagination", "pageinfo", "responsemetadata", "next", "nextpage", "cursor", "cursors"}

// describe returns the description of an operation's successful response.
func (o *outline) describe(op map[string]any) (d described) {
	responses := object(op["responses"])
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		if !strings.HasPrefix(code, "2") {
			continue
		}
		response := o.followed(responses[code])
		for name := range object(response["headers"]) {
			d.link = d.link || strings.EqualFold(name, "Link")
		}
		for media, content := range object(response["content"]) {
			if strings.Contains(media, "json") {
				d.fields = map[string]field{}
				o.members(object(content)["schema"], "", 0, &d)
			}
		}
		return d
	}
	return d
}

// followed follows references within the document.
func (o *outline) followed(v any) map[string]any {
	for range 10 {
		ref, ok := object(v)["$ref"].(string)
		if !ok {
			break
		}
		if !strings.HasPrefix(ref, "#/") {
			return nil
		}
		v, _ = o.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/"))
	}
	return object(v)
}

// members collects the members of a schema, including those of containers.
func (o *outline) members(v any, prefix string, depth int, d *described) {
	schema := o.followed(v)
	for _, part := range list(schema["allOf"]) {
		if depth < 5 {
			o.members(part, prefix, depth+1, d)
		}
	}
	if kindOf(schema) == "array" {
		d.list = true
	}
	for name, member := range object(schema["properties"]) {
		s, path := o.followed(member), prefix+name
		f := field{kind: kindOf(s)}
		f.format, _ = s["format"].(string)
		d.fields[path] = f
		d.list = d.list || f.kind == "array"
		if f.kind != "array" && depth < 3 && slices.Contains(containers, plainWord(name)) {
			o.members(s, path+".", depth+1, d)
		}
	}
}

// kindOf returns the type of a schema, "" if it has several.
func kindOf(s map[string]any) string {
	kind, _ := s["type"].(string)
	if many := list(s["type"]); len(many) > 0 {
		kinds := slices.DeleteFunc(slices.Clone(many), func(v any) bool { return v == "null" })
		if len(kinds) == 1 {
			kind, _ = kinds[0].(string)
		}
	}
	return kind
}

// plainWord returns a name in lower case, without separators.
func plainWord(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

var (
	sizeWords   = []string{"perpage", "pagesize", "limit", "maxresults", "pagelimit", "count", "size", "top", "take", "maxitems", "resultsperpage", "itemsperpage"}
	pageWords   = []string{"page", "pagenumber", "pageno", "pagenum"}
	offsetWords = []string{"offset", "skip", "startat"}
	totalWords  = []string{"total", "totalcount", "totalresults", "totalrecords", "totalitems", "metatotal", "paginationtotal", "pagingtotal", "pageinfototal", "metatotalcount"}
	moreWords   = []string{"hasmore", "pagingnexthasmore", "paginationhasmore", "metahasmore", "pageinfohasmore", "hasnextpage", "pageinfohasnextpage"}
	nextURLs    = []string{"next", "nexturl", "nextlink", "nextpageurl", "odatanextlink", "linksnext", "pagingnext", "paginationnext", "linkspagesnext", "paginationnexturl", "metanext"}
)

// query is a query parameter with its schema.
type query struct {
	name   string
	schema map[string]any
}

// recognise returns the pagination of a list if the document leaves no doubt: the first rule that
// matches unambiguously. Otherwise only the links of a response are followed.
func recognise(params []query, d described) bridge.Pages {
	one := func(words []string) (found query) {
		n := 0
		for _, p := range params {
			if kind := kindOf(p.schema); slices.Contains(words, plainWord(p.name)) && (kind == "integer" || kind == "number") {
				found, n = p, n+1
			}
		}
		if n != 1 {
			return query{}
		}
		return found
	}
	how := bridge.Pages{By: bridge.PagesLink, Size: one(sizeWords).name, Total: d.one(totalWords, "integer", "number"), More: d.one(moreWords, "boolean")}
	page, offset := one(pageWords), one(offsetWords)
	first := firstOf(page.schema)
	if next, param := d.cursor(params); param != "" {
		how.By, how.Next, how.Param = bridge.PagesNext, next, param
		return how
	}
	for _, p := range params {
		switch word := plainWord(p.name); {
		case how.More == "" || word != "after" && word != "startingafter":
		case d.fields["last_id"].kind == "string":
			how.By, how.Next, how.Param = bridge.PagesNext, "last_id", p.name
			return how
		case word == "startingafter":
			how.By, how.Last, how.Param = bridge.PagesLast, "id", p.name
			return how
		}
	}
	switch {
	case d.link:
		how.Param = page.name
	case d.one(nextURLs, "uri") != "":
		how.By, how.Next = bridge.PagesNext, d.one(nextURLs, "uri")
	case !d.list || page.name != "" && offset.name != "":
	case page.name != "" && first != nil:
		how.By, how.Param, how.First = bridge.PagesPage, page.name, first
	case offset.name != "" && how.Size != "":
		how.By, how.Param = bridge.PagesOffset, offset.name
	}
	return how
}

// firstOf returns the number of the first page, nil if the document does not say it.
func firstOf(schema map[string]any) *int {
	for _, k := range []string{"default", "minimum"} {
		if schema[k] == nil {
			continue
		}
		text, _ := scalar(schema[k])
		if n, err := strconv.Atoi(text); err == nil && (n == 0 || n == 1) {
			return &n
		}
		return nil
	}
	return nil
}

// one returns the only field with one of these names and one of these types or formats, "" if there are
// several.
func (d described) one(words []string, kinds ...string) (found string) {
	n := 0
	for path, f := range d.fields {
		if slices.Contains(words, plainWord(path)) && (slices.Contains(kinds, f.kind) || slices.Contains(kinds, f.format)) {
			found, n = path, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return found
}

// cursor returns the only field whose name matches a cursor parameter: next_token for token or
// next_token, metadata.continue for continue.
func (d described) cursor(params []query) (next, param string) {
	n := 0
	for path, f := range d.fields {
		if f.kind == "array" || f.kind == "object" || f.kind == "boolean" {
			continue
		}
		word := plainWord(path)
		for _, p := range params {
			name := plainWord(p.name)
			own := strings.HasPrefix(name, "next") || strings.HasPrefix(name, "contin")
			if strings.HasSuffix(word, "next"+name) || strings.HasSuffix(word, "nextpage"+name) || own && strings.HasSuffix(word, name) {
				next, param, n = path, p.name, n+1
			}
		}
	}
	if n != 1 {
		return "", ""
	}
	return next, param
}
