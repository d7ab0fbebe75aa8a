package httpapi

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the schemas of openapi.yaml anew, from the Go types and their comments")

// writeSchemas replaces the schemas of the document, which are its last part.
func writeSchemas(t *testing.T, w writer) {
	t.Helper()
	head, _, found := strings.Cut(string(openAPI), "\n  schemas:\n")
	if !found {
		t.Fatal("openapi.yaml has no schemas")
	}
	docs := comments(t)
	var b strings.Builder
	b.WriteString(head + "\n  schemas:\n")
	for _, name := range slices.Sorted(maps.Keys(w.out)) {
		s := w.out[name]
		fmt.Fprintf(&b, "    %s:\n", name)
		if docs[name] != "" {
			fmt.Fprintf(&b, "      description: %s\n", strconv.Quote(docs[name]))
		}
		fmt.Fprintf(&b, "      type: %s\n", s.Type)
		if len(s.Enum) > 0 {
			fmt.Fprintf(&b, "      enum: [%s]\n", strings.ReplaceAll(", "+strings.Join(s.Enum, ", "), ", ,", ", '',")[2:])
			continue
		}
		if len(s.Required) > 0 {
			fmt.Fprintf(&b, "      required: [%s]\n", strings.Join(s.Required, ", "))
		}
		if s.Values != nil {
			b.WriteString("      additionalProperties: false\n      patternProperties: {'^x-(?!manifold-)': {}}\n")
		}
		if len(s.AnyOf) > 0 {
			fmt.Fprintf(&b, "      anyOf: [%s]\n", strings.Join(each(s.AnyOf), ", "))
		}
		b.WriteString("      properties:\n")
		writeFields(&b, s, w.types[name], docs)
	}
	if err := os.WriteFile("openapi.yaml", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func writeFields(b *strings.Builder, s schema, of reflect.Type, docs map[string]string) {
	for f := range of.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && tag == "":
			writeFields(b, s, f.Type, docs)
		default:
			parts := inline(s.Properties[name])
			if doc := docs[of.Name()+"."+f.Name]; doc != "" {
				parts = append(parts, "description: "+strconv.Quote(doc))
			}
			fmt.Fprintf(b, "        %s: {%s}\n", name, strings.Join(parts, ", "))
		}
	}
}

// inline returns a schema on one line, without its braces.
func inline(s schema) []string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+value)
		}
	}
	if s.Ref != "" {
		add("$ref", "'"+s.Ref+"'")
		return parts
	}
	add("type", s.Type)
	add("format", s.Format)
	if len(s.Enum) > 0 {
		add("enum", "["+strings.Join(s.Enum, ", ")+"]")
	}
	if len(s.Required) > 0 {
		add("required", "["+strings.Join(s.Required, ", ")+"]")
	}
	if s.Pattern != "" {
		add("pattern", "'"+s.Pattern+"'")
	}
	add("minLength", count(s.MinLength))
	add("maxLength", count(s.MaxLength))
	add("minItems", count(s.Min))
	add("maxItems", count(s.Max))
	add("minimum", bound(s.Minimum))
	add("maximum", bound(s.Maximum))
	if len(s.Properties) > 0 {
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			fields = append(fields, name+": {"+strings.Join(inline(s.Properties[name]), ", ")+"}")
		}
		add("properties", "{"+strings.Join(fields, ", ")+"}")
	}
	if s.Items != nil {
		add("items", "{"+strings.Join(inline(*s.Items), ", ")+"}")
	}
	if s.Values != nil {
		add("additionalProperties", "{"+strings.Join(inline(s.Values.Of), ", ")+"}")
	}
	return parts
}

func each(all []schema) []string {
	var out []string
	for _, s := range all {
		out = append(out, "{"+strings.Join(inline(s), ", ")+"}")
	}
	return out
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func bound(at *float64) string {
	if at == nil {
		return ""
	}
	return strconv.FormatFloat(*at, 'f', -1, 64)
}

// comments returns the contract's comments: of types by "Type", of fields by "Type.Field".
func comments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../contracts/*.go")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := filepath.Glob("../../contracts/metrics/*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range append(files, figures...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if of, ok := spec.(*ast.TypeSpec); ok {
					commentsOf(of, oneLine(group.Doc)+oneLine(of.Doc), out)
				}
			}
		}
	}
	return out
}

func commentsOf(of *ast.TypeSpec, doc string, out map[string]string) {
	out[of.Name.Name] = doc
	fields, ok := of.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			out[of.Name.Name+"."+name.Name] = oneLine(field.Doc)
		}
	}
}

// oneLine returns a comment without line breaks.
func oneLine(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}
