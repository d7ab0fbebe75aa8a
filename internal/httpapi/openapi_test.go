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
	"github.com/manifold-run/manifold/contracts/metrics"
)

// document is the part of openapi.yaml that the tests use.
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
	Values     *values           `yaml:"additionalProperties"`
	// Further constraints of the contract's schema.
	Pattern   string   `yaml:"pattern"`
	MinLength int      `yaml:"minLength"`
	MaxLength int      `yaml:"maxLength"`
	Minimum   *float64 `yaml:"minimum"`
	Maximum   *float64 `yaml:"maximum"`
	AnyOf     []schema `yaml:"anyOf"`
	// Own are the patterns of additional members, for an object that allows no others.
	Own  map[string]schema `yaml:"patternProperties"`
	Defs map[string]schema `yaml:"$defs"`
}

// values describes the additional members of an object: a schema, or none allowed.
type values struct {
	Of   schema
	None bool
}

// UnmarshalYAML accepts a schema, or false.
func (v *values) UnmarshalYAML(raw []byte) error {
	if v.None = strings.TrimSpace(string(raw)) == "false"; v.None {
		return nil
	}
	return yaml.Unmarshal(raw, &v.Of)
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
			fields, _ := op.(map[string]any) // other members have no operationId
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
		op, _ := paths[place.ReplaceAllString(r.path, "{$1}")][strings.ToLower(r.method)].(map[string]any) // another test finds missing ones
		if _, open := op["security"]; open != r.public {
			t.Errorf("%s %s: public %v, said %v", r.method, r.path, r.public, open)
		}
	}
}

func TestTheDocumentNamesEveryQuery(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths      map[string]map[string]any `yaml:"paths"`
		Components struct {
			Parameters map[string]struct {
				Name string `yaml:"name"`
			} `yaml:"parameters"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(openAPI, &document); err != nil {
		t.Fatal(err)
	}
	for _, r := range (&Server{}).routes() {
		op, _ := document.Paths[place.ReplaceAllString(r.path, "{$1}")][strings.ToLower(r.method)].(map[string]any) // another test finds missing ones
		listed, _ := op["parameters"].([]any)
		var described []string
		for _, one := range listed {
			p, _ := one.(map[string]any)
			ref, _ := p["$ref"].(string)
			if shared := strings.TrimPrefix(ref, "#/components/parameters/"); shared == "Cursor" || shared == "Limit" {
				described = append(described, document.Components.Parameters[shared].Name)
			}
			if name, _ := p["name"].(string); p["in"] == "query" {
				described = append(described, name)
			}
		}
		if diff := cmp.Diff(queryParams(r.method, r.path), described); diff != "" {
			t.Errorf("%s %s, taken and described:\n%s", r.method, r.path, diff)
		}
	}
}

// bodies returns the Go types of request bodies, with the schemas that validate them.
func bodies() map[contracts.SchemaName]reflect.Type {
	return map[contracts.SchemaName]reflect.Type{
		contracts.SchemaStartSession: reflect.TypeFor[contracts.StartSession](), contracts.SchemaMessage: reflect.TypeFor[contracts.Message](),
		contracts.SchemaRename: reflect.TypeFor[contracts.Rename](), contracts.SchemaResume: reflect.TypeFor[contracts.Resume](),
		contracts.SchemaPlanRequest: reflect.TypeFor[contracts.PlanRequest](), contracts.SchemaRunPlan: reflect.TypeFor[contracts.RunPlan](),
		contracts.SchemaLockKey: reflect.TypeFor[contracts.LockKey](), contracts.SchemaAuditRequest: reflect.TypeFor[contracts.AuditRequest](),
		contracts.SchemaRegistration: reflect.TypeFor[contracts.Registration](), contracts.SchemaConfirmDomain: reflect.TypeFor[contracts.ConfirmDomain](),
		contracts.SchemaSignIn: reflect.TypeFor[contracts.SignIn](), contracts.SchemaKeySpec: reflect.TypeFor[contracts.KeySpec](),
	}
}

// wireTypes returns the Go types of responses.
func wireTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[contracts.Problem](), reflect.TypeFor[contracts.Health](), reflect.TypeFor[contracts.Readiness](),
		reflect.TypeFor[contracts.Caller](), reflect.TypeFor[contracts.WebhookKey](), reflect.TypeFor[contracts.SessionResponse](),

		reflect.TypeFor[contracts.Event](), reflect.TypeFor[contracts.PlanPreview](),
		reflect.TypeFor[contracts.RunSummary](), reflect.TypeFor[contracts.RunView](), reflect.TypeFor[contracts.DomainState](),
		reflect.TypeFor[metrics.RunMetrics](), reflect.TypeFor[metrics.Stats](), reflect.TypeFor[contracts.LedgerEntry](), reflect.TypeFor[contracts.ReplayReport](), reflect.TypeFor[contracts.Interrupt](),
		reflect.TypeFor[contracts.LockView](), reflect.TypeFor[contracts.DomainView](),
		reflect.TypeFor[contracts.DomainReport](), reflect.TypeFor[contracts.DomainDetail](),
		reflect.TypeFor[contracts.DomainDiff](), reflect.TypeFor[contracts.CapabilityView](),
		reflect.TypeFor[contracts.InstanceView](), reflect.TypeFor[contracts.KeyView](),
		reflect.TypeFor[contracts.GateView](), reflect.TypeFor[contracts.Settings](), reflect.TypeFor[contracts.RunCounts](), reflect.TypeFor[contracts.SignedIn](), reflect.TypeFor[contracts.SignInLink](), reflect.TypeFor[contracts.KeyCreated](), reflect.TypeFor[contracts.AuditReport](),
		reflect.TypeFor[contracts.AuditRoot](), reflect.TypeFor[contracts.AuditProof](), reflect.TypeFor[contracts.AuditConsistency](),
	}
}

func TestTheSchemasAreThoseOfTheGoTypes(t *testing.T) {
	t.Parallel()
	w := writer{enums: constants(t), out: map[string]schema{}, types: map[string]reflect.Type{}}
	for _, name := range slices.Sorted(maps.Keys(bodies())) {
		held := contractSchema(t, name)
		w.of(bodies()[name], limits{root: held, at: held})
	}
	for _, typ := range wireTypes() {
		w.of(typ, limits{})
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

// writer generates the schemas of the types.
type writer struct {
	enums map[string][]string
	out   map[string]schema
	types map[string]reflect.Type
}

func (w writer) of(t reflect.Type, held limits) schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return schema{Type: held.here().Type}
	}
	at := held.here()
	switch t.Kind() {
	case reflect.Pointer:
		return w.of(t.Elem(), held)
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{Type: "integer", Minimum: at.Minimum, Maximum: at.Maximum}
	case reflect.Float64:
		return schema{Type: "number", Minimum: at.Minimum, Maximum: at.Maximum}
	case reflect.Slice:
		return schema{Type: "array", Min: at.Min, Items: new(w.of(t.Elem(), held.to(at.Items)))}
	case reflect.Array:
		return schema{Type: "array", Min: t.Len(), Max: t.Len(), Items: new(w.of(t.Elem(), held.to(at.Items)))}
	case reflect.Map:
		var each limits
		if at.Values != nil {
			each = held.to(&at.Values.Of)
		}
		return schema{Type: "object", Values: &values{Of: w.of(t.Elem(), each)}}
	case reflect.String:
		return w.text(t, at)
	case reflect.Struct:
		return w.object(t, held)
	default:
		return schema{Type: at.Type}
	}
}

// text returns an enumeration if the contract closes the set.
func (w writer) text(t reflect.Type, at schema) schema {
	open := []string{"string", "Strategy", "ErrorType"}
	if slices.Contains(open, t.Name()) || len(w.enums[t.Name()]) == 0 {
		return schema{Type: "string", Format: at.Format, Enum: at.Enum, Pattern: at.Pattern, MinLength: at.MinLength, MaxLength: at.MaxLength}
	}
	w.out[t.Name()] = schema{Type: "string", Enum: w.enums[t.Name()]}
	return schema{Ref: "#/components/schemas/" + t.Name()}
}

func (w writer) object(t reflect.Type, held limits) schema {
	ref := schema{Ref: "#/components/schemas/" + t.Name()}
	if _, done := w.out[t.Name()]; done {
		return ref
	}
	w.out[t.Name()], w.types[t.Name()] = schema{}, t
	s := schema{Type: "object", Properties: map[string]schema{}, AnyOf: held.here().AnyOf}
	if values := held.here().Values; values != nil && values.None {
		s.Values, s.Own = values, map[string]schema{`^x-(?!manifold-)`: {}}
	}
	w.fields(t, held, &s)
	w.out[t.Name()] = s
	return ref
}

func (w writer) fields(t reflect.Type, held limits, s *schema) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && tag == "":
			w.fields(f.Type, held, s)
		default:
			s.Properties[name] = w.of(f.Type, held.of(name))
			if !strings.Contains(options, "omit") {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// limits is a place in a schema of the contract; the zero value has no constraints.
type limits struct{ root, at *schema }

func contractSchema(t *testing.T, name contracts.SchemaName) *schema {
	t.Helper()
	held, err := contracts.BuiltinSchema(name)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := yaml.Unmarshal(held.Raw(), &s); err != nil {
		t.Fatal(name, err)
	}
	return &s
}

// here returns the schema at the place.
func (l limits) here() schema {
	switch name, found := strings.CutPrefix(l.ref(), "#/$defs/"); {
	case found:
		return l.root.Defs[name]
	case l.at == nil:
		return schema{}
	default:
		return *l.at
	}
}

func (l limits) ref() string {
	if l.at == nil {
		return ""
	}
	return l.at.Ref
}

func (l limits) to(at *schema) limits { return limits{root: l.root, at: at} }

func (l limits) of(property string) limits {
	if at, has := l.here().Properties[property]; has {
		return l.to(&at)
	}
	return limits{}
}

// constants returns the constants of each string type of the contract, in source order.
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
					text, _ := strconv.Unquote(literal.Value) // the parser has validated it
					out[name.Name] = append(out[name.Name], text)
				}
			}
			return true
		})
	}
	return out
}
