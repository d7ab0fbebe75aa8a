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
		b.WriteString("      properties:\n")
		writeFields(&b, w, w.types[name], docs)
	}
	if err := os.WriteFile("openapi.yaml", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func writeFields(b *strings.Builder, w writer, of reflect.Type, docs map[string]string) {
	for f := range of.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && tag == "":
			writeFields(b, w, f.Type, docs)
		default:
			parts := inline(w.of(f.Type))
			if doc := docs[of.Name()+"."+f.Name]; doc != "" {
				parts = append(parts, "description: "+strconv.Quote(doc))
			}
			fmt.Fprintf(b, "        %s: {%s}\n", name, strings.Join(parts, ", "))
		}
	}
}

// inline is a schema on one line, without its braces.
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
	if s.Max > 0 {
		parts = append(parts, fmt.Sprintf("minItems: %d, maxItems: %d", s.Min, s.Max))
	}
	if s.Items != nil {
		add("items", "{"+strings.Join(inline(*s.Items), ", ")+"}")
	}
	if s.Values != nil {
		add("additionalProperties", "{"+strings.Join(inline(*s.Values), ", ")+"}")
	}
	return parts
}

// comments gives what the contract says of its types, by "Type", and of their
// fields, by "Type.Field".
func comments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../contracts/*.go")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := filepath.Glob("../../contracts/figure/*.go")
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

// oneLine is a comment without its line breaks; one about several things is
// none about the first.
func oneLine(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}
