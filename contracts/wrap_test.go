package contracts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

func raw(s string) contracts.Opaque { return contracts.NewOpaque(json.RawMessage(s)) }

func TestWrapResult(t *testing.T) {
	t.Parallel()
	failed := func(message string) *contracts.ToolError {
		return &contracts.ToolError{Type: contracts.ErrInternal, Message: message, Effect: contracts.EffectUnknown}
	}
	cases := map[string]struct {
		body string
		want contracts.ToolResult
	}{
		"a ToolResult passes as it is, unknown keys and nulls aside": {
			`{"ok":true,"summary":"done","facts":{"n":1,"id":9007199254740993},"data":{"raw":1},"error":null,"artifacts":{"a":[1],"b":null},"later":1}`,
			contracts.ToolResult{
				OK: true, Summary: "done", Facts: map[string]any{"n": 1.0, "id": json.Number("9007199254740993")}, Data: raw(`{"raw":1}`),
				Artifacts: map[string]json.RawMessage{"a": json.RawMessage(`[1]`)},
			},
		},
		"a refusal keeps what the domain says of the effect": {
			`{"ok":false,"error":{"type":"conflict","message":"taken","retryable":true,"effect":"none"}}`,
			contracts.ToolResult{Summary: "taken", Error: &contracts.ToolError{Type: "conflict", Message: "taken", Retryable: true, Effect: contracts.EffectNone}},
		},
		"a failure without a reason gets one":                   {`{"ok":false}`, contracts.ToolResult{Summary: "the domain gave no reason", Error: &contracts.ToolError{Type: contracts.ErrInternal, Message: "the domain gave no reason"}}},
		"a bare message is an error":                            {`{"ok":false,"error":"boom"}`, contracts.ToolResult{Summary: "boom", Error: &contracts.ToolError{Type: contracts.ErrInternal, Message: "boom"}}},
		"an effect that is no word of ours is unknown":          {`{"ok":false,"error":{"type":"not_found","message":"m","effect":"maybe"}}`, contracts.ToolResult{Summary: "m", Error: &contracts.ToolError{Type: "not_found", Message: "m", Effect: contracts.EffectUnknown}}},
		"a part of the wrong type is left out and noted":        {`{"ok":true,"summary":"s","facts":[1]}`, contracts.ToolResult{OK: true, Summary: "s", Malformed: []contracts.Fault{{Pointer: "/facts", Message: "is of the wrong type and was left out"}}}},
		"an error beside ok: true is left out and noted":        {`{"ok":true,"error":{"type":"internal"}}`, contracts.ToolResult{OK: true, Malformed: []contracts.Fault{{Pointer: "/error", Message: "stands beside ok: true and was left out"}}}},
		"rule 1: an error message fails":                        {`{"error":"no such thing","id":1}`, contracts.ToolResult{Summary: "no such thing", Error: failed("no such thing"), Data: raw(`{"error":"no such thing","id":1}`)}},
		"rule 1: an error object fails with its message":        {`{"error":{"type":"not_found","message":"gone"}}`, contracts.ToolResult{Summary: "gone", Error: failed("gone"), Data: raw(`{"error":{"type":"not_found","message":"gone"}}`)}},
		"rule 1: an error without a message shows itself":       {`{"error":{"code":7}}`, contracts.ToolResult{Summary: `{"code":7}`, Error: failed(`{"code":7}`), Data: raw(`{"error":{"code":7}}`)}},
		"rule 1: an empty error is none":                        {`{"error":null,"id":1}`, contracts.ToolResult{OK: true, Summary: "make_thing (id=1)", Facts: map[string]any{"id": 1.0, "name": "make_thing"}, Artifacts: map[string]json.RawMessage{"ids": json.RawMessage(`[1]`)}, Data: raw(`{"error":null,"id":1}`)}},
		"rule 2: valid passes":                                  {`{"valid":true,"id":1}`, contracts.ToolResult{OK: true, Summary: "valid", Facts: map[string]any{"valid": true, "errors": 0.0}, Data: raw(`{"valid":true,"id":1}`)}},
		"rule 2: not valid fails with the number of errors":     {`{"valid":false,"errors":["a","b"]}`, contracts.ToolResult{Summary: "not valid: 2 error(s)", Facts: map[string]any{"valid": false, "errors": 2.0}, Error: &contracts.ToolError{Type: contracts.ErrPrecondition, Message: "not valid: 2 error(s)", Effect: contracts.EffectUnknown}, Data: raw(`{"valid":false,"errors":["a","b"]}`)}},
		"rule 3: an id is named and kept as an artifact":        {`{"id":"x1","name":"My flow","snapshotted":true}`, contracts.ToolResult{OK: true, Summary: "My flow (id=x1)", Facts: map[string]any{"id": "x1", "name": "My flow"}, Artifacts: map[string]json.RawMessage{"ids": json.RawMessage(`["x1"]`)}, Data: raw(`{"id":"x1","name":"My flow","snapshotted":true}`)}},
		"rule 3: a large id keeps its digits":                   {`{"id":9007199254740993}`, contracts.ToolResult{OK: true, Summary: "make_thing (id=9007199254740993)", Facts: map[string]any{"id": json.Number("9007199254740993"), "name": "make_thing"}, Artifacts: map[string]json.RawMessage{"ids": json.RawMessage(`[9007199254740993]`)}, Data: raw(`{"id":9007199254740993}`)}},
		"rule 4: a snapshot is saved as its label":              {`{"snapshotted":true,"label":"v3"}`, contracts.ToolResult{OK: true, Summary: "saved as v3", Facts: map[string]any{"label": "v3"}, Data: raw(`{"snapshotted":true,"label":"v3"}`)}},
		"rule 5: a list is counted":                             {`[1,2,3]`, contracts.ToolResult{OK: true, Summary: "3 item(s)", Facts: map[string]any{"count": 3.0}, Data: raw(`[1,2,3]`)}},
		"rule 6: an object shows its first 200 characters":      {`{ "a": "` + strings.Repeat("é", 300) + `"}`, contracts.ToolResult{OK: true, Summary: `{"a":"` + strings.Repeat("é", 194), Data: raw(`{ "a": "` + strings.Repeat("é", 300) + `"}`)}},
		"rule 6: an ok that is no boolean is a key like others": {`{"ok":"yes"}`, contracts.ToolResult{OK: true, Summary: `{"ok":"yes"}`, Data: raw(`{"ok":"yes"}`)}},
		"rule 7: a text shows its first 300 characters":         {`"` + strings.Repeat("x", 400) + `"`, contracts.ToolResult{OK: true, Summary: strings.Repeat("x", 300), Data: raw(`"` + strings.Repeat("x", 400) + `"`)}},
		"rule 7: a number shows itself":                         {` 42 `, contracts.ToolResult{OK: true, Summary: "42", Data: raw(`42`)}},
		"a summary is one line without control characters":      {`{"ok":true,"summary":"a\nb\u0000c\u202ed\u2028 e"}`, contracts.ToolResult{OK: true, Summary: "a b c d e"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := contracts.WrapResult("make_thing", 200, "application/json; charset=utf-8", []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrapResultRefusesWhatIsNoToolResult(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		contentType, body string
		code              contracts.Code
	}{
		"half an answer":         {"application/json", `{"ok":true,`, contracts.CodeInvalid},
		"no answer":              {"application/json", ``, contracts.CodeInvalid},
		"two answers":            {"application/json", `{"ok":true}{"ok":true}`, contracts.CodeInvalid},
		"a proxy's error page":   {"text/html", `{"ok":true}`, contracts.CodeInvalid},
		"a broken content type":  {"json;;", `{"ok":true}`, contracts.CodeInvalid},
		"bytes that are no text": {"application/json", "\"\xff\xfe\"", contracts.CodeInvalid},
		"an answer too deep":     {"application/json", strings.Repeat("[", 101) + strings.Repeat("]", 101), contracts.CodeInvalid},
		"an answer too large":    {"application/json", `"` + strings.Repeat("x", contracts.MaxAnswerBytes) + `"`, contracts.CodeTooLarge},
		"a number out of range":  {"application/json", `{"ok":true,"facts":{"n":1e999}}`, contracts.CodeInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contracts.WrapResult("t", 200, tc.contentType, []byte(tc.body))
			if got := contracts.CodeOf(err); got != tc.code {
				t.Errorf("code %q, want %q: %v", got, tc.code, err)
			}
		})
	}
}

func TestWrapResultNeverBelievesOKBeyond2xx(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"ok":true,"summary":"fine"}`, `{"id":1}`, `[]`} {
		r, err := contracts.WrapResult("t", 500, "application/problem+json", []byte(body))
		if err != nil || r.OK || r.Error == nil || r.Error.Type != contracts.ErrUpstream {
			t.Errorf("%s: got %+v, %v", body, r, err)
		}
	}
}

func TestBoundResult(t *testing.T) {
	t.Parallel()
	output := compile(t, `{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer"}},"required":["id"]}`)
	big := strings.Repeat("x", contracts.MaxFactsBytes)
	huge := json.RawMessage(`"` + strings.Repeat("x", contracts.MaxArtifactBytes) + `"`)
	ok := func(facts map[string]any) contracts.ToolResult {
		return contracts.ToolResult{OK: true, Summary: "done", Facts: facts, Data: raw(`{"d":1}`)}
	}
	cases := map[string]struct {
		in     contracts.ToolResult
		output *contracts.Schema
		kept   map[string]any // the content that a write keeps
		faults []string
	}{
		"what fits stays":                           {ok(map[string]any{"id": "a", "n": 1.0}), output, map[string]any{"id": "a", "n": 1.0}, nil},
		"facts beyond the limit go":                 {ok(map[string]any{"id": big}), nil, nil, []string{"/facts"}},
		"only the facts that are wrong go":          {ok(map[string]any{"id": "a", "n": "x"}), output, map[string]any{"id": "a"}, []string{"/facts/n"}},
		"a missing fact is told":                    {ok(map[string]any{"n": 1.0}), output, map[string]any{"n": 1.0}, []string{"/facts"}},
		"no facts at all are checked too":           {ok(nil), output, map[string]any{}, []string{"/facts"}},
		"a part that could not be read is reported": {contracts.ToolResult{OK: true, Malformed: []contracts.Fault{{Pointer: "/facts", Message: "m"}}}, nil, nil, []string{"/facts"}},
		"an artifact beyond the limit goes": {
			contracts.ToolResult{OK: true, Artifacts: map[string]json.RawMessage{"a/b": huge}}, nil, nil, []string{"/artifacts/a~1b"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			write, faults := contracts.BoundResult(tc.in, true, tc.output)
			if !write.OK || len(write.Artifacts) > 0 {
				t.Errorf("a write that was done stays ok: %v", write.Error)
			}
			if diff := cmp.Diff(tc.kept, write.Facts); diff != "" {
				t.Errorf("facts of the write (-want +got):\n%s", diff)
			}
			var at []string
			for _, f := range faults {
				at = append(at, f.Pointer)
			}
			if diff := cmp.Diff(tc.faults, at); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			read, _ := contracts.BoundResult(tc.in, false, tc.output)
			if read.OK != (len(tc.faults) == 0) {
				t.Errorf("a read is ok only without faults: %+v", read.Error)
			}
			if !read.OK && (read.Facts != nil || read.Error.Type != contracts.ErrUpstream || !read.Data.Equal(tc.in.Data)) {
				t.Errorf("a broken read keeps only its raw data: %+v", read)
			}
		})
	}
}

func TestBoundResultLeavesRefusalsAlone(t *testing.T) {
	t.Parallel()
	output := compile(t, `{"type":"object","required":["id"]}`)
	in := contracts.ToolResult{Summary: strings.Repeat("y", 400), Error: &contracts.ToolError{Type: "conflict", Message: "a\nb" + strings.Repeat("z", 2000), Detail: strings.Repeat("d", 1<<15)}}
	got, faults := contracts.BoundResult(in, false, output)
	want := contracts.ToolResult{Summary: strings.Repeat("y", 299) + "…", Error: &contracts.ToolError{Type: "conflict", Message: "a b" + strings.Repeat("z", 997)}}
	if diff := cmp.Diff(want, got); diff != "" || len(faults) > 0 {
		t.Errorf("faults %v (-want +got):\n%s", faults, diff)
	}
}

// FuzzWrapResult checks that any response gives an error or a bounded result whose failure has a
// message.
func FuzzWrapResult(f *testing.F) {
	for _, seed := range []string{
		`{"ok":true,"summary":"s","facts":{"a":1}}`, `{"error":{"message":1}}`, `{"valid":false,"errors":3}`, `{"id":[1]}`,
		`{"snapshotted":true}`, `[1,{"a":[]}]`, `"x"`, `null`, `{"ok":false,"error":[]}`, `{"ok":true,"artifacts":[]}`, `{"ok":true,"data":null}`,
	} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, body string, writes bool) {
		wrapped, err := contracts.WrapResult("tool", 200, "application/json", []byte(body))
		if err != nil {
			return
		}
		r, faults := contracts.BoundResult(wrapped, writes, nil)
		again, err := json.Marshal(r)
		switch {
		case err != nil:
			t.Fatalf("cannot be written: %v", err)
		case len([]rune(r.Summary)) > contracts.MaxSummaryChars || strings.ContainsAny(r.Summary, "\n\r\x00"):
			t.Fatalf("summary %q", r.Summary)
		case !r.OK && (r.Error == nil || r.Error.Type == "" || r.Error.Message == ""):
			t.Fatalf("a failure without a reason: %s", again)
		case writes && r.OK != wrapped.OK, len(faults) > 0 && !writes && r.OK:
			t.Fatalf("ok changed wrongly: %s", again)
		}
	})
}
