package communication_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/communication"
)

// process is a domain that can be stopped.
type process struct {
	domain *communication.Domain
	server *httptest.Server
}

func start(t *testing.T, config communication.Config) *process {
	t.Helper()
	domain, err := communication.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := domain.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return &process{domain, httptest.NewServer(handler)}
}

func (p *process) stop(t *testing.T) {
	t.Helper()
	p.server.Close()
	if err := p.domain.Close(); err != nil {
		t.Error(err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"in memory": "", "in a folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, communication.Config{Dir: dir, Tokens: []string{"s3cret"}})
			defer p.stop(t)
			report := conformance.Run(t.Context(), conformance.Options{URL: p.server.URL, Authorization: "Bearer s3cret", AllowWrites: true})
			for _, f := range report.Findings() {
				t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Pointer, f.Message)
			}
		})
	}
}

func (p *process) execute(t *testing.T, capability, parameters, key string) contracts.ToolResult {
	t.Helper()
	_, out := domaintest.Execute(t, p.server.URL, capability, json.RawMessage(parameters), map[string]any{"idempotency_key": key})
	return out
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func TestMessagesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	config := communication.Config{Dir: filepath.Join(t.TempDir(), "new", "folder"), Now: noon}
	before := start(t, config)
	first := before.execute(t, "send_message", `{"message":"hello","channel":"sales"}`, "k1")
	before.stop(t)
	after := start(t, config)
	defer after.stop(t)
	if diff := cmp.Diff(first, after.execute(t, "send_message", `{"message":"hello","channel":"sales"}`, "k1"), cmp.AllowUnexported(contracts.Opaque{})); diff != "" {
		t.Errorf("a repeat after a restart (-want +got):\n%s", diff)
	}
	after.execute(t, "send_message", `{"message":"to all"}`, "k2")
	want := map[string]any{"count": 2.0, "messages": []any{
		map[string]any{"message_id": "m-2", "channel": "general", "message": "to all", "sent_at": "2026-03-01T12:00:00Z"},
		map[string]any{"message_id": "m-1", "channel": "sales", "message": "hello", "sent_at": "2026-03-01T12:00:00Z"},
	}}
	if diff := cmp.Diff(want, after.execute(t, "list_messages", `{}`, "").Facts); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got := after.execute(t, "list_messages", `{"channel":"sales","limit":1}`, "").Facts["count"]; got != 1.0 {
		t.Errorf("%v messages in sales, want one", got)
	}
}

func TestHalfAMessageIsCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := `{"message_id":"m-1","channel":"a","message":"one","sent_at":"2026-03-01T12:00:00Z","key":"k1"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "outbox.jsonl"), []byte(whole+`{"message_id":"m-2","cha`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, communication.Config{Dir: dir, Now: noon})
	defer p.stop(t)
	if got := p.execute(t, "send_message", `{"message":"two","channel":"a"}`, "k2").Facts["message_id"]; got != "m-2" {
		t.Errorf("the next message is %v, want m-2", got)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "outbox.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := whole + strings.NewReplacer("m-1", "m-2", "one", "two", "k1", "k2").Replace(whole)
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
}

func TestABrokenOutboxIsNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "outbox.jsonl"), []byte("no json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := communication.New(t.Context(), communication.Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "message 1 of the outbox") {
		t.Errorf("got %v, want the message that cannot be read", err)
	}
}
