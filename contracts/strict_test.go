package contracts_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

type order struct {
	Name   string               `json:"name"`
	Count  int                  `json:"count,omitempty"`
	Price  float64              `json:"price,omitempty"`
	Flag   *bool                `json:"flag,omitempty"`
	Tags   []string             `json:"tags,omitempty"`
	Inner  *order               `json:"inner,omitempty"`
	Named  map[string]order     `json:"named,omitempty"`
	Raw    json.RawMessage      `json:"raw,omitempty"`
	Any    map[string]any       `json:"any,omitempty"`
	Span   [2]int               `json:"span,omitzero"`
	At     time.Time            `json:"at,omitzero"`
	Plays  []contracts.RolePlay `json:"plays,omitempty"`
	Hidden string               `json:"-"`
	contracts.Overlay
}

func TestDecodeStrictListsEveryFault(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in   string
		want []contracts.Fault
	}{
		"an unknown key deep inside is named by its pointer": {
			`{"name":"a","named":{"b/c":{"name":"b","inner":{"name":"c","nmae":"d"}}}}`,
			[]contracts.Fault{{Pointer: "/named/b~1c/inner/nmae", Message: "the key is unknown"}},
		},
		"a key in another case is unknown, and the right one is suggested": {
			`{"Name":"a"}`,
			[]contracts.Fault{{Pointer: "/Name", Message: "the key is unknown; did you mean name?"}},
		},
		"the author's own keys pass, ours do not": {
			`{"name":"a","x-team":1,"x-manifold-team":1}`,
			[]contracts.Fault{{Pointer: "/x-manifold-team", Message: "the key is unknown"}},
		},
		"all wrong types are listed": {
			`{"name":1,"count":1.5,"price":"x","flag":"no","tags":{"a":1},"span":[1],"at":"today"}`,
			[]contracts.Fault{
				{Pointer: "/at", Message: "must be a time as in RFC 3339"},
				{Pointer: "/count", Message: "must be a whole number, but is 1.5"},
				{Pointer: "/flag", Message: "must be true or false, but is a string"},
				{Pointer: "/name", Message: "must be a string, but is a number"},
				{Pointer: "/price", Message: "must be a number, but is a string"},
				{Pointer: "/span", Message: "must be a list of 2"},
				{Pointer: "/tags", Message: "must be a list, but is an object"},
			},
		},
		"a duplicate key is refused also inside raw JSON": {
			`{"name":"a","name":"b","raw":{"x":1,"x":2}}`,
			[]contracts.Fault{
				{Pointer: "/name", Message: "the key stands here twice"},
				{Pointer: "/raw/x", Message: "the key stands here twice"},
			},
		},
		"the short form of a role passes, its long form is strict": {
			`{"name":"a","plays":["notifier",{"role":"r","parm_map":{}}]}`,
			[]contracts.Fault{{Pointer: "/plays/1/parm_map", Message: "the key is unknown"}},
		},
		"embedded structs are part of the object": {
			`{"name":"a","trust":"full","floor":{"risk":"low"}}`,
			[]contracts.Fault{{Pointer: "/floor/risk", Message: "the key is unknown"}},
		},
		"a hidden field cannot be set": {
			`{"name":"a","Hidden":"x"}`,
			[]contracts.Fault{{Pointer: "/Hidden", Message: "the key is unknown"}},
		},
		"a null at the top is refused":     {`null`, []contracts.Fault{{Message: "must not be null"}}},
		"a null for a string is refused":   {`{"name":null}`, []contracts.Fault{{Pointer: "/name", Message: "must be a string, but is null"}}},
		"a number out of range is refused": {`{"name":"a","any":{"n":1e999}}`, []contracts.Fault{{Pointer: "/any/n", Message: "the number 1e999 is out of range"}}},
		"trailing data is refused": {
			`{"name":"a"} {}`,
			[]contracts.Fault{{Message: "is not JSON: invalid character '{' after top-level value at byte 14"}},
		},
		"depth is bounded": {
			`{"any":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 101),
			[]contracts.Fault{{Message: "is nested 101 levels deep; 100 are allowed"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got order
			err := contracts.DecodeStrict([]byte(tc.in), &got)
			if contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Fatalf("code %q, want invalid: %v", contracts.CodeOf(err), err)
			}
			if diff := cmp.Diff(tc.want, faultsOf(t, err)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeStrictReadsWhatFits(t *testing.T) {
	t.Parallel()
	in := `{"name":"a","flag":false,"tags":null,"inner":null,"raw":{"unknown":{"deep":1}},"span":[1,2],
		"at":"2026-01-02T03:04:05Z","plays":["notifier"],"x-note":1,"any":{"id":9007199254740993,"n":1,"l":[0.5]}}`
	var got order
	if err := contracts.DecodeStrict([]byte(in), &got); err != nil {
		t.Fatal(err)
	}
	want := order{
		Name: "a", Flag: new(false), Raw: json.RawMessage(`{"unknown":{"deep":1}}`), Span: [2]int{1, 2},
		At:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Plays: []contracts.RolePlay{{Role: "notifier"}},
		Any:   map[string]any{"id": json.Number("9007199254740993"), "n": 1.0, "l": []any{0.5}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	in := `{"role":"r","param_map":{"id":12345678901234567890,"f":1.5,"e":1e20,"small":9007199254740991}}`
	var role contracts.RolePlay
	if err := json.Unmarshal([]byte(in), &role); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id": json.Number("12345678901234567890"), "f": 1.5, "e": 1e20, "small": 9007199254740991.0}
	if diff := cmp.Diff(want, role.ParamMap); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	norm, err := contracts.Normalize(map[string]any{"a": int64(1) << 60, "b": 3, "c": []string{"x"}, "d": struct {
		N int `json:"n"`
	}{7}})
	if err != nil {
		t.Fatal(err)
	}
	wantNorm := map[string]any{"a": json.Number("1152921504606846976"), "b": 3.0, "c": []any{"x"}, "d": map[string]any{"n": 7.0}}
	if diff := cmp.Diff(any(wantNorm), norm); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func faultsOf(t *testing.T, err error) []contracts.Fault {
	t.Helper()
	e, ok := errors.AsType[*contracts.Error](err)
	if !ok {
		t.Fatalf("%v is no contracts.Error", err)
	}
	return e.Faults
}
