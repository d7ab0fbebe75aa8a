package contracts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// secret is the content of every part of a result that must not leak.
const secret = "THE-RAW-BLOB"

func blobResult(t *testing.T) contracts.ToolResult {
	t.Helper()
	blob := strings.Repeat(secret, 100_000)
	body, err := json.Marshal(map[string]any{
		"ok": true, "summary": "12 rows", "facts": map[string]any{"rows": 12, "cell": secret},
		"data": blob, "artifacts": map[string]any{"table": blob},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := contracts.WrapResult("t", 200, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestALargeBlobNeverReachesAPrompt(t *testing.T) {
	t.Parallel()
	if got := blobResult(t).Summary; got != "12 rows" {
		t.Errorf("got %.100q", got)
	}
	if got := contracts.CleanSummary(strings.Repeat("line\n", 100_000)); len([]rune(got)) != contracts.MaxSummaryChars || strings.Contains(got, "\n") {
		t.Errorf("a summary is cut and one line, got %d characters", len(got))
	}
	bare, err := contracts.WrapResult("t", 200, "application/json", []byte(`{"rows":["`+strings.Repeat("x", 1<<20)+`"]}`))
	if err != nil || len([]rune(bare.Summary)) != 200 {
		t.Errorf("bare JSON shows 200 characters: %v", err)
	}
}

func TestALargeBlobNeverReachesALog(t *testing.T) {
	t.Parallel()
	r := blobResult(t)
	var out bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		log := slog.New(h)
		log.Info("done", slog.Any("result", r), slog.Any("data", r.Data), slog.Group("g", slog.Any("result", r)))
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		fmt.Fprintf(&out, verb, r.Data)
		fmt.Fprintf(&out, verb, &r.Data)
		fmt.Fprintf(&out, verb, struct{ Data contracts.Opaque }{r.Data})
	}
	fmt.Fprint(&out, r.Data, []contracts.Opaque{r.Data}, map[string]contracts.Opaque{"a": r.Data})
	if strings.Contains(out.String(), secret) || strings.Contains(out.String(), fmt.Sprintf("%x", secret)) {
		t.Errorf("the blob was printed: %.300s", out.String())
	}
	if !strings.Contains(out.String(), "opaque(1200002 bytes, sha256:") {
		t.Errorf("size and hash are printed, got %.300s", out.String())
	}
}

func TestOpaque(t *testing.T) {
	t.Parallel()
	var r contracts.ToolResult
	if err := json.Unmarshal([]byte(`{"ok":true,"data":{"b": 1,"a":2}}`), &r); err != nil {
		t.Fatal(err)
	}
	if got := string(r.Data.Reveal()); got != `{"b": 1,"a":2}` {
		t.Errorf("the bytes are kept, got %s", got)
	}
	if err := json.Unmarshal([]byte(`{"data":null}`), &r); err != nil || !r.Data.IsZero() || r.Data.String() != "opaque(empty)" {
		t.Errorf("null means absent, got %s", r.Data)
	}
	if out, err := json.Marshal(r); err != nil || string(out) != `{"ok":true}` {
		t.Errorf("what is absent is left out, got %s, %v", out, err)
	}
}

func TestEffectOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  *contracts.ToolError
		want contracts.Effect
	}{
		"no error was applied":                {nil, contracts.EffectApplied},
		"what is declared holds":              {&contracts.ToolError{Type: contracts.ErrInternal, Effect: contracts.EffectNone}, contracts.EffectNone},
		"a refusal has no effect":             {&contracts.ToolError{Type: contracts.ErrPrecondition}, contracts.EffectNone},
		"a budget has no effect":              {&contracts.ToolError{Type: contracts.ErrBudget}, contracts.EffectNone},
		"a time-out is unknown":               {&contracts.ToolError{Type: contracts.ErrTimeout}, contracts.EffectUnknown},
		"an own type is unknown":              {&contracts.ToolError{Type: "domain.halted"}, contracts.EffectUnknown},
		"a word that is no effect is unknown": {&contracts.ToolError{Type: contracts.ErrConflict, Effect: "perhaps"}, contracts.EffectUnknown},
	}
	for name, tc := range cases {
		if got := tc.err.EffectOf(); got != tc.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestRolePlayForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]contracts.RolePlay{
		`"notifier"`: {Role: "notifier"},
		`{"role":"r","param_map":{"a":"${params.message}"}}`: {Role: "r", ParamMap: map[string]any{"a": "${params.message}"}},
	} {
		var got contracts.RolePlay
		if err := json.Unmarshal([]byte(in), &got); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || string(out) != in {
			t.Errorf("%s became %s: %v\n%s", in, out, err, diff)
		}
	}
}
