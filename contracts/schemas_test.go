package contracts_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// typesBySchema returns the Go type of every schema.
func typesBySchema() map[contracts.SchemaName]reflect.Type {
	return map[contracts.SchemaName]reflect.Type{
		contracts.SchemaManifest:      reflect.TypeFor[contracts.Manifest](),
		"tool_result":                 reflect.TypeFor[contracts.ToolResult](),
		"execute_request":             reflect.TypeFor[contracts.ExecuteRequest](),
		"accepted":                    reflect.TypeFor[contracts.Accepted](),
		"health":                      reflect.TypeFor[contracts.Health](),
		"plan":                        reflect.TypeFor[contracts.Plan](),
		"intent":                      reflect.TypeFor[contracts.Intent](),
		"interrupt":                   reflect.TypeFor[contracts.Interrupt](),
		contracts.SchemaResume:        reflect.TypeFor[contracts.Resume](),
		"event":                       reflect.TypeFor[contracts.Event](),
		"ledger_entry":                reflect.TypeFor[contracts.LedgerEntry](),
		"verdict":                     reflect.TypeFor[contracts.Verdict](),
		contracts.SchemaRegistration:  reflect.TypeFor[contracts.Registration](),
		contracts.SchemaBootstrap:     reflect.TypeFor[contracts.Bootstrap](),
		contracts.SchemaStartSession:  reflect.TypeFor[contracts.StartSession](),
		"session_response":            reflect.TypeFor[contracts.SessionResponse](),
		"run_view":                    reflect.TypeFor[contracts.RunView](),
		contracts.SchemaPlanRequest:   reflect.TypeFor[contracts.PlanRequest](),
		contracts.SchemaRunPlan:       reflect.TypeFor[contracts.RunPlan](),
		contracts.SchemaMessage:       reflect.TypeFor[contracts.Message](),
		contracts.SchemaRename:        reflect.TypeFor[contracts.Rename](),
		contracts.SchemaConfirmDomain: reflect.TypeFor[contracts.ConfirmDomain](),
		contracts.SchemaKeySpec:       reflect.TypeFor[contracts.KeySpec](),
		contracts.SchemaLockKey:       reflect.TypeFor[contracts.LockKey](),
		contracts.SchemaAuditRequest:  reflect.TypeFor[contracts.AuditRequest](),
		contracts.SchemaSignIn:        reflect.TypeFor[contracts.SignIn](),
	}
}

func TestEverySchemaFileIsNamed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("schemas/*.json")
	if err != nil {
		t.Fatal(err)
	}
	types := typesBySchema()
	if len(files) != len(contracts.SchemaNames()) || len(types) != len(files) {
		t.Errorf("%d files, %d names, %d types", len(files), len(contracts.SchemaNames()), len(types))
	}
	for _, name := range contracts.SchemaNames() {
		if _, err := contracts.BuiltinSchema(name); err != nil || types[name] == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExamplesFitSchemaAndType(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[contracts.SchemaName]bool{}
	for _, file := range files {
		prefix, _, _ := strings.Cut(filepath.Base(file), ".")
		name := contracts.SchemaName(prefix)
		seen[name] = true
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			checkExample(t, name, readFile(t, file))
		})
	}
	for _, name := range contracts.SchemaNames() {
		if !seen[name] {
			t.Errorf("there is no example of %s in testdata", name)
		}
	}
}

func checkExample(t *testing.T, name contracts.SchemaName, data []byte) {
	t.Helper()
	var doc any
	if err := contracts.Decode(data, &doc); err != nil {
		t.Fatal(err)
	}
	schema, err := contracts.BuiltinSchema(name)
	if err != nil {
		t.Fatal(err)
	}
	if faults := schema.Validate(doc); faults != nil {
		t.Fatalf("does not fit its schema: %v", faults)
	}
	v := reflect.New(typesBySchema()[name])
	if err := contracts.Decode(data, v.Interface()); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := contracts.Decode(written, &again); err != nil {
		t.Fatal(err)
	}
	if faults := schema.Validate(again); faults != nil {
		t.Errorf("what the type writes does not fit: %v", faults)
	}
	lost(t, "", doc, again)
	second := reflect.New(typesBySchema()[name])
	if err := contracts.Decode(written, second.Interface()); err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(second.Interface())
	if diff := cmp.Diff(string(written), string(twice)); diff != "" || err != nil {
		t.Errorf("changes when it is read again: %v\n%s", err, diff)
	}
}

// lost reports the parts of an example that the Go type did not preserve. Zero values and unknown
// keys may be lost.
func lost(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok && len(want) > 0 {
			t.Errorf("%s was lost", at)
		}
		for name, v := range want {
			if strings.HasPrefix(name, "x-") || name == "later_version" {
				continue
			}
			lost(t, at+"/"+name, v, members[name])
		}
	case []any:
		items, ok := got.([]any)
		if ok && len(items) == len(want) {
			for i := range want {
				lost(t, at+"/"+strconv.Itoa(i), want[i], items[i])
			}
		} else if len(want) > 0 {
			t.Errorf("%s was lost", at)
		}
	case nil, bool, float64, string:
		if got != want && want != nil && !reflect.ValueOf(want).IsZero() {
			t.Errorf("%s was %v, is %v", at, want, got)
		}
	default:
		if got != want {
			t.Errorf("%s was %v, is %v", at, want, got)
		}
	}
}

func TestSchemasAgreeWithTypes(t *testing.T) {
	t.Parallel()
	words := wordsByType(t)
	for name, typ := range typesBySchema() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			var root map[string]any
			if err := json.Unmarshal(readFile(t, "schemas/"+string(name)+".json"), &root); err != nil {
				t.Fatal(err)
			}
			d := &drift{root: root, words: words, used: map[string]bool{}}
			d.compare(t, string(name), root, typ)
			defs, _ := root["$defs"].(map[string]any)
			for def := range defs {
				if !d.used[def] {
					t.Errorf("$defs/%s is not used", def)
				}
			}
		})
	}
}

// drift compares a schema with a Go type.
type drift struct {
	root  map[string]any
	words map[string][]string
	used  map[string]bool
}

func (d *drift) compare(t *testing.T, at string, schema map[string]any, typ reflect.Type) {
	t.Helper()
	schema = d.follow(schema)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if words := d.words[typ.Name()]; typ.Name() != "string" && typ.Kind() == reflect.String && schema["enum"] != nil {
		d.compareWords(t, at, schema["enum"].([]any), typ.Name(), words)
		return
	}
	switch typ {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[contracts.Opaque](), reflect.TypeFor[any]():
		return
	case reflect.TypeFor[contracts.RolePlay](), reflect.TypeFor[contracts.Condition](), reflect.TypeFor[contracts.Allowed](),
		reflect.TypeFor[contracts.Unattended](), reflect.TypeFor[contracts.Fallback](), reflect.TypeFor[contracts.Budget]():
		if forms := list(schema["oneOf"]); len(forms) == 2 { // the short form and the long form
			schema = d.follow(forms[1].(map[string]any))
		}
	}
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
		reflect.Slice: "array", reflect.Array: "array", reflect.Map: "object", reflect.Struct: "object",
	}[typ.Kind()]
	if typ.String() == "time.Time" {
		want = "string"
	}
	if kind := schema["type"]; kind != want && schema["const"] == nil && !slices.Contains(list(kind), any(want)) {
		t.Errorf("%s: the schema says %v, the type is %s", at, kind, typ)
	}
	switch {
	case typ.String() == "time.Time":
	case typ.Kind() == reflect.Struct:
		d.compareFields(t, at, schema, typ)
	case typ.Kind() == reflect.Slice || typ.Kind() == reflect.Array:
		d.compare(t, at+"[]", schema["items"].(map[string]any), typ.Elem())
	case typ.Kind() == reflect.Map && schema["additionalProperties"] != nil:
		d.compare(t, at+"{}", schema["additionalProperties"].(map[string]any), typ.Elem())
	}
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// follow returns the target of a $ref, or the non-null alternative.
func (d *drift) follow(schema map[string]any) map[string]any {
	if branches := list(schema["oneOf"]); len(branches) == 2 && cmp.Equal(branches[1], map[string]any{"type": "null"}) {
		schema = branches[0].(map[string]any)
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		d.used[name] = true
		return d.root["$defs"].(map[string]any)[name].(map[string]any)
	}
	return schema
}

func (d *drift) compareFields(t *testing.T, at string, schema map[string]any, typ reflect.Type) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	known := map[string]bool{}
	optional := map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		known[name], optional[name] = true, strings.Contains(options, "omit")
		if property, ok := properties[name].(map[string]any); ok {
			d.compare(t, at+"."+name, property, f.Type)
		} else {
			t.Errorf("%s: the schema does not know %s", at, name)
		}
	}
	for name := range properties {
		if !known[name] {
			t.Errorf("%s: the type does not know %s", at, name)
		}
	}
	for _, name := range list(schema["required"]) {
		if optional[name.(string)] {
			t.Errorf("%s: %v is required by the schema and left out by the type", at, name)
		}
	}
}

func (d *drift) compareWords(t *testing.T, at string, enum []any, typ string, words []string) {
	t.Helper()
	var got []string
	for _, word := range enum {
		got = append(got, word.(string))
	}
	if typ == "HealthStatus" { // only the core sets "starting"
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == string(contracts.HealthStarting) })
	}
	if diff := cmp.Diff(words, got); diff != "" {
		t.Errorf("%s: the words of %s (-type +schema):\n%s", at, typ, diff)
	}
}

// wordsByType returns the string constants of each type in the source.
func wordsByType(t *testing.T) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typ, named := spec.Type.(*ast.Ident)
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if named && isLiteral && literal.Kind == token.STRING {
				word, _ := strconv.Unquote(literal.Value)
				words[typ.Name] = append(words[typ.Name], word)
			}
			return true
		})
	}
	return words
}

func TestParseHoldsToSchemaAndType(t *testing.T) {
	t.Parallel()
	var r contracts.Registration
	err := contracts.Parse(contracts.SchemaRegistration, []byte(`{"domain":"X","url":"ftp://a","authorization":"Bearer abc","truts":"full","poll_s":"1"}`), &r)
	want := []contracts.Fault{
		{Pointer: "/poll_s", Message: "must be a number, but is a string"},
		{Pointer: "/truts", Message: "the key is unknown"},
		{Pointer: "/authorization", Message: "does not match pattern '^env:[A-Za-z_][A-Za-z0-9_]*$'"},
		{Pointer: "/domain", Message: "does not match pattern '^[a-z][a-z0-9_-]{1,31}$'"},
		{Pointer: "/url", Message: "does not match pattern '^https?://'"},
	}
	if diff := cmp.Diff(want, faultsOf(t, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := contracts.Parse("nonsense", []byte(`{}`), &r); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("an unknown schema is not found, got %v", err)
	}
	if err := contracts.Parse(contracts.SchemaResume, []byte(`{`), &contracts.Resume{}); contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("broken syntax is invalid, got %v", err)
	}
}
