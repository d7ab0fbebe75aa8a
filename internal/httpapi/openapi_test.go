package httpapi

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/figure"
)

// document is as much of openapi.yaml as the tests look at.
type document struct {
	Paths      map[string]map[string]any `yaml:"paths"`
	Components struct {
		Schemas map[string]schema `yaml:"schemas"`
	} `yaml:"components"`
}

type schema struct {
	Ref        string            `yaml:"$ref"`
	Type       string            `yaml:"type"`
	Format     string            `yaml:"format"`
	Enum       []string          `yaml:"enum"`
	Required   []string          `yaml:"required"`
	Properties map[string]schema `yaml:"properties"`
	Items      *schema           `yaml:"items"`
	Min        int               `yaml:"minItems"`
	Max        int               `yaml:"maxItems"`
	Values     *schema           `yaml:"additionalProperties"`
}

func openAPIDocument(t *testing.T) document {
	t.Helper()
	var d document
	if err := yaml.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

var place = regexp.MustCompile(`:([a-z0-9]+)`)

func TestTheDocumentHasExactlyTheRoutes(t *testing.T) {
	t.Parallel()
	var served, described []string
	for _, r := range (&Server{}).routes() {
		served = append(served, r.method+" "+place.ReplaceAllString(r.path, "{$1}"))
	}
	ids := map[string]bool{}
	for path, item := range openAPIDocument(t).Paths {
		for method, op := range item {
			if method == "parameters" {
				continue
			}
			described = append(described, strings.ToUpper(method)+" "+path)
			fields, _ := op.(map[string]any) // anything else has no operationId
			id, _ := fields["operationId"].(string)
			if id == "" || ids[id] || fields["summary"] == "" {
				t.Errorf("%s %s: operation id %q", method, path, id)
			}
			ids[id] = true
		}
	}
	slices.Sort(served)
	slices.Sort(described)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("served, described:\n%s", diff)
	}
}

func TestPublicRoutesAreSaidToBePublic(t *testing.T) {
	t.Parallel()
	paths := openAPIDocument(t).Paths
	for _, r := range (&Server{}).routes() {
		op, _ := paths[place.ReplaceAllString(r.path, "{$1}")][strings.ToLower(r.method)].(map[string]any) // a missing one is another test's
		if _, open := op["security"]; open != r.public {
			t.Errorf("%s %s: public %v, said %v", r.method, r.path, r.public, open)
		}
	}
}

// wireTypes are the Go types that the routes take and give.
func wireTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[contracts.Problem](), reflect.TypeFor[contracts.Health](), reflect.TypeFor[contracts.Readiness](),
		reflect.TypeFor[contracts.Caller](), reflect.TypeFor[contracts.WebhookKey](), reflect.TypeFor[contracts.StartSession](), reflect.TypeFor[contracts.SessionResponse](),
		reflect.TypeFor[contracts.Rename](), reflect.TypeFor[contracts.Message](), reflect.TypeFor[contracts.Resume](),
		reflect.TypeFor[contracts.Event](), reflect.TypeFor[contracts.PlanRequest](), reflect.TypeFor[contracts.PlanPreview](),
		reflect.TypeFor[contracts.RunPlan](), reflect.TypeFor[contracts.RunSummary](), reflect.TypeFor[contracts.RunView](), reflect.TypeFor[contracts.DomainState](),
		reflect.TypeFor[figure.RunFigures](), reflect.TypeFor[figure.Stats](), reflect.TypeFor[contracts.LedgerEntry](), reflect.TypeFor[contracts.ReplayReport](), reflect.TypeFor[contracts.Interrupt](),
		reflect.TypeFor[contracts.LockView](), reflect.TypeFor[contracts.LockKey](), reflect.TypeFor[contracts.DomainView](),
		reflect.TypeFor[contracts.Registration](), reflect.TypeFor[contracts.DomainReport](), reflect.TypeFor[contracts.DomainDetail](),
		reflect.TypeFor[contracts.ConfirmDomain](), reflect.TypeFor[contracts.DomainDiff](), reflect.TypeFor[contracts.CapabilityView](),
		reflect.TypeFor[contracts.InstanceView](), reflect.TypeFor[contracts.KeyView](), reflect.TypeFor[contracts.KeySpec](),
		reflect.TypeFor[contracts.KeyCreated](), reflect.TypeFor[contracts.AuditRequest](), reflect.TypeFor[contracts.AuditReport](),
		reflect.TypeFor[contracts.AuditRoot](), reflect.TypeFor[contracts.AuditProof](), reflect.TypeFor[contracts.AuditConsistency](),
	}
}

func TestTheSchemasAreThoseOfTheGoTypes(t *testing.T) {
	t.Parallel()
	w := writer{enums: constants(t), out: map[string]schema{}, types: map[string]reflect.Type{}}
	for _, typ := range wireTypes() {
		w.of(typ)
	}
	if *update {
		writeSchemas(t, w)
		return
	}
	described := openAPIDocument(t).Components.Schemas
	if diff := cmp.Diff(w.out, described); diff != "" {
		t.Errorf("types, openapi.yaml (go test ./internal/httpapi -run TheSchemas -update writes it anew):\n%s", diff)
	}
}

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	t.Parallel()
	schemas := openAPIDocument(t).Components.Schemas
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`#/components/schemas/(\w+)`).FindAllStringSubmatch(string(openAPI), -1) {
		used[m[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(schemas))); diff != "" {
		t.Errorf("used, defined:\n%s", diff)
	}
}

// writer makes the schemas that the types have.
type writer struct {
	enums map[string][]string
	out   map[string]schema
	types map[string]reflect.Type
}

func (w writer) of(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.of(t.Elem())
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{Type: "integer"}
	case reflect.Float64:
		return schema{Type: "number"}
	case reflect.Slice:
		return schema{Type: "array", Items: new(w.of(t.Elem()))}
	case reflect.Array:
		return schema{Type: "array", Min: t.Len(), Max: t.Len(), Items: new(w.of(t.Elem()))}
	case reflect.Map:
		return schema{Type: "object", Values: new(w.of(t.Elem()))}
	case reflect.String:
		return w.text(t)
	case reflect.Struct:
		return w.object(t)
	default:
		return schema{}
	}
}

// text is an enumeration where the contract closes the set.
func (w writer) text(t reflect.Type) schema {
	open := []string{"string", "Strategy", "ErrorType"}
	if slices.Contains(open, t.Name()) || len(w.enums[t.Name()]) == 0 {
		return schema{Type: "string"}
	}
	w.out[t.Name()] = schema{Type: "string", Enum: w.enums[t.Name()]}
	return schema{Ref: "#/components/schemas/" + t.Name()}
}

func (w writer) object(t reflect.Type) schema {
	ref := schema{Ref: "#/components/schemas/" + t.Name()}
	if _, done := w.out[t.Name()]; done {
		return ref
	}
	w.out[t.Name()], w.types[t.Name()] = schema{}, t
	s := schema{Type: "object", Properties: map[string]schema{}}
	w.fields(t, &s)
	w.out[t.Name()] = s
	return ref
}

func (w writer) fields(t reflect.Type, s *schema) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && tag == "":
			w.fields(f.Type, s)
		default:
			s.Properties[name] = w.of(f.Type)
			if !strings.Contains(options, "omit") {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// constants are the texts of each string type of the contract, in the order of
// the source.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../../contracts/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := map[string][]string{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil {
				return true
			}
			name, ok := spec.Type.(*ast.Ident)
			for _, value := range spec.Values {
				if literal, isText := value.(*ast.BasicLit); ok && isText && literal.Kind == token.STRING {
					text, _ := strconv.Unquote(literal.Value) // the parser has read it
					out[name.Name] = append(out[name.Name], text)
				}
			}
			return true
		})
	}
	return out
}
