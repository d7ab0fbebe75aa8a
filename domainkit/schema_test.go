package domainkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// plain is an Out without fields.
type plain struct{}

// newService returns a service that is stopped at the end of the test.
func newService(t *testing.T, change ...func(*domainkit.Config)) *domainkit.Service {
	t.Helper()
	config := domainkit.Config{Domain: "shop", Version: "1.2.3"}
	for _, c := range change {
		c(&config)
	}
	svc, err := domainkit.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

func read(name string) domainkit.Capability {
	return domainkit.Capability{
		Name: name, Description: "Reads.", Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
	}
}

// schemaFor returns the input and output schema that Add derives.
func schemaFor[In, Out any](t *testing.T) (input, output string) {
	t.Helper()
	svc := newService(t)
	err := domainkit.Add(svc, read("it"), func(context.Context, domainkit.Call, In) (out Out, err error) { return out, nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := svc.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return string(m.Capabilities[0].Schema), string(m.Capabilities[0].OutputSchema)
}

type kinds struct {
	At    time.Time         `json:"at"`
	On    string            `json:"on" format:"date"`
	Raw   json.RawMessage   `json:"raw,omitempty"`
	Any   any               `json:"any,omitempty"`
	Blob  []byte            `json:"blob,omitempty"`
	Map   map[string]int    `json:"map,omitempty"`
	Free  map[string]any    `json:"free,omitempty"`
	Inner struct{ X uint8 } `json:"inner"`
	Many  []struct {
		Y bool `json:"y"`
	} `json:"many,omitempty"`
	Maybe  *string `json:"maybe"`
	Forced *int    `json:"forced" required:"true"`
	Loose  string  `json:"loose" required:"false"`
	Notify bool    `json:"notify,omitempty" default:"false" only:"manifold"`
	Own    ownSchema
	secret string //nolint:unused // an unexported field has no place in JSON
	Hidden string `json:"-"`
	base
}

type base struct {
	ID string `json:"id"`
}

type ownSchema struct{}

func (ownSchema) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"string","const":"own"}`)
}

func TestSchemaOfInput(t *testing.T) {
	t.Parallel()
	type tags struct {
		Symbol   string   `json:"symbol" description:"A ticker." pattern:"^[A-Z]+$" min:"1" max:"10"`
		Currency string   `json:"currency" enum:"USD, EUR" default:"USD"`
		Above    float64  `json:"above" above:"0" below:"1e6"`
		Count    int      `json:"count,omitempty" min:"1" max:"50" default:"10"`
		Days     []string `json:"days,omitempty" min:"1" enum:"mon,tue"`
	}
	got, _ := schemaFor[tags, plain](t)
	want := `{"type":"object","properties":{` +
		`"symbol":{"type":"string","description":"A ticker.","pattern":"^[A-Z]+$","minLength":1,"maxLength":10},` +
		`"currency":{"type":"string","enum":["USD","EUR"],"default":"USD"},` +
		`"above":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1e6},` +
		`"count":{"type":"integer","minimum":1,"maximum":50,"default":10},` +
		`"days":{"type":"array","items":{"type":"string","enum":["mon","tue"]},"minItems":1}},` +
		`"required":["symbol","above"],"additionalProperties":false}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func TestSchemaOfKinds(t *testing.T) {
	t.Parallel()
	got, _ := schemaFor[kinds, plain](t)
	want := `{"type":"object","properties":{` +
		`"at":{"type":"string","format":"date-time"},"on":{"type":"string","format":"date"},"raw":{},"any":{},` +
		`"blob":{"type":"string","contentEncoding":"base64"},"map":{"type":"object","additionalProperties":{"type":"integer"}},` +
		`"free":{"type":"object"},` +
		`"inner":{"type":"object","properties":{"X":{"type":"integer","minimum":0}},"required":["X"],"additionalProperties":false},` +
		`"many":{"type":"array","items":{"type":"object","properties":{"y":{"type":"boolean"}},"required":["y"],"additionalProperties":false}},` +
		`"maybe":{"type":"string"},"forced":{"type":"integer"},"loose":{"type":"string"},` +
		`"notify":{"type":"boolean","default":false,"x-manifold-only":true},"Own":{"type":"string","const":"own"},"id":{"type":"string"}},` +
		`"required":["at","on","inner","forced","Own","id"],"additionalProperties":false}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func TestSchemaOfOutput(t *testing.T) {
	t.Parallel()
	type facts struct {
		Price float64  `json:"price"`
		Note  string   `json:"note,omitempty"`
		Ended *bool    `json:"ended"`
		Tags  []string `json:"tags"`
	}
	want := `{"type":"object","properties":{"price":{"type":"number"},"note":{"type":"string"},"ended":{"type":["boolean","null"]},` +
		`"tags":{"type":"array","items":{"type":"string"}}},"required":["price","tags"]}`
	_, direct := schemaFor[plain, facts](t)
	if diff := cmp.Diff(want, direct); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if _, wrapped := schemaFor[plain, domainkit.Result[facts]](t); wrapped != direct {
		t.Errorf("a Result has another schema than its facts: %s", wrapped)
	}
}

func TestSchemaIsRefinedByHand(t *testing.T) {
	t.Parallel()
	type params struct {
		One  string   `json:"one,omitempty"`
		Many []string `json:"many,omitempty"`
	}
	c := read("it")
	c.Schema = json.RawMessage(`{"oneOf":[{"required":["one"]},{"required":["many"]}],"properties":{"many":{"maxItems":3}},"additionalProperties":null}`)
	svc := newService(t)
	if err := domainkit.Add(svc, c, func(context.Context, domainkit.Call, params) (plain, error) { return plain{}, nil }); err != nil {
		t.Fatal(err)
	}
	m, err := svc.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"one":{"type":"string"},"many":{"type":"array","items":{"type":"string"},"maxItems":3}},` +
		`"oneOf":[{"required":["one"]},{"required":["many"]}]}`
	if diff := cmp.Diff(want, string(m.Capabilities[0].Schema)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

type loop struct {
	Next []loop `json:"next"`
}

// added returns the error of adding a capability with these types.
func added[In, Out any](t *testing.T) error {
	t.Helper()
	return domainkit.Add(newService(t), read("it"), func(context.Context, domainkit.Call, In) (out Out, err error) { return out, nil })
}

func TestMisuseIsRefusedWhenAdded(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		want string
	}{
		"parameters must be a struct":        {added[string, plain](t), "string is no struct"},
		"facts must be a struct":             {added[plain, []int](t), "[]int is no struct"},
		"facts of a Result must be a struct": {added[plain, domainkit.Result[[]int]](t), "[]int is no struct"},
		"a type may not contain itself":      {added[loop, plain](t), "contains itself"},
		"a channel has no JSON form":         {added[struct{ C chan int }, plain](t), "field C: chan int has no JSON form"},
		"keys of maps must be strings":       {added[struct{ M map[int]int }, plain](t), "keys of a map must be strings"},
		"a pattern must be RE2": {added[struct {
			S string `pattern:"(?=a)"`
		}, plain](t), "no RE2 expression"},
		"a pattern is for texts": {added[struct {
			S int `pattern:"a"`
		}, plain](t), "tag pattern: is for type string, not for \"integer\""},
		"a bound must be a number": {added[struct {
			S int `min:"x"`
		}, plain](t), `tag min: "x" is no number`},
		"a bound needs something to measure": {added[struct {
			S bool `min:"1"`
		}, plain](t), "tag min: is not for type \"boolean\""},
		"an exclusive bound is for numbers": {added[struct {
			S string `above:"1"`
		}, plain](t), "tag above: is not for type \"string\""},
		"a default must have the type": {added[struct {
			S int `default:"1.5"`
		}, plain](t), `tag default: "1.5" is no integer`},
		"an enum must have the type": {added[struct {
			S bool `enum:"true,maybe"`
		}, plain](t), `tag enum: "maybe" is no boolean`},
		"required is true or false": {added[struct {
			S bool `required:"yes"`
		}, plain](t), `required is "yes"`},
		"only knows one word": {added[struct {
			S bool `only:"me"`
		}, plain](t), `tag only: "me" is unknown`},
		"a time is no object to take as params": {added[time.Time, plain](t), "is no object in JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || !strings.Contains(tt.err.Error(), `capability "it"`) {
				t.Errorf("got %v, want the capability and %q", tt.err, tt.want)
			}
		})
	}
}

func TestMisuseOfAdd(t *testing.T) {
	t.Parallel()
	svc := newService(t)
	do := func(context.Context, domainkit.Call, plain) (plain, error) { return plain{}, nil }
	if err := domainkit.Add(svc, read("one"), do); err != nil {
		t.Fatal(err)
	}
	nameless, badSchema := read(""), read("two")
	badSchema.Schema = json.RawMessage(`[1]`)
	err := errors.Join(
		domainkit.Add(svc, read("one"), do),
		domainkit.Add(svc, nameless, do),
		domainkit.Add(svc, badSchema, do),
		domainkit.Add[plain, plain](svc, read("three"), nil),
		domainkit.AddRaw(svc, read("four"), nil),
	)
	want := strings.Join([]string{
		`capability "one": added twice`,
		`a capability has no name`,
		`capability "two": parameters: the schema to merge is no object`,
		`capability "three": the handler is nil`,
		`capability "four": the handler is nil`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if _, err := svc.Manifest(); err != nil {
		t.Fatal(err)
	}
	if err := domainkit.Add(svc, read("late"), do); err == nil || !strings.Contains(err.Error(), "after the service was started") {
		t.Errorf("adding after the start: %v", err)
	}
}
