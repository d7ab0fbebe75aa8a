package attack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// clock is a time that the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) passes(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestOnlyNamedReviewersApprove(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"review":{"people":{"otto":["otto@example.com"]},"rules":[{"domains":["vault"],"classes":["write_irreversible"],"risk_level":"high","people":["otto@example.com","ines"]}]}}`))
	alice, boss := s.person("alice", "operator"), s.person("boss", "admin", "approver")
	otto := s.person("otto", "approver")
	norole := s.person("ines", "viewer")
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	if strings.Join(gate.Reviewers, " ") != "ines otto@example.com" {
		t.Errorf("the gate names %v", gate.Reviewers)
	}
	s.mayNot(boss, gate, "an approver who is not named", "ines, otto@example.com")
	if _, err := norole.Approve(t.Context(), gate, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("a named person without the role: %v", err)
	}
	s.approves(otto, gate) // another name of the one who is named
	low := s.gate(s.asks(alice, "vault.note", toAlice))
	if len(low.Reviewers) != 0 {
		t.Errorf("a rule for high risk holds for low: %v", low.Reviewers)
	}
	s.approves(boss, low)
}

func TestARuleNamesRolesAndAQuorum(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"review":{"rules":[{"domains":["vault"],"roles":["treasurer"],"quorum":2}]}}`))
	alice := s.person("alice", "operator")
	boss, ines, tom := s.person("boss", "admin", "approver"), s.person("ines", "treasurer"), s.person("tom", "treasurer")
	run := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(run)
	s.mayNot(boss, gate, "who has another role", "treasurer")
	if got := s.approves(ines, gate); got.Status != contracts.InterruptOpen {
		t.Fatalf("one of two was enough: %s", got.Status)
	}
	if len(s.vault.record()) != 0 {
		t.Fatal("paid with one of two")
	}
	text := s.talks(s.keyOf("uma", "treasurer", "viewer")).says("show " + gate.Code)
	if !strings.Contains(text, "1 of 2") {
		t.Errorf("the gate does not say how many more:\n%s", text)
	}
	s.approves(tom, gate)
	s.ended(run)
}

func TestNobodyApprovesBeforeTheWaitIsOver(t *testing.T) {
	t.Parallel()
	time0 := &clock{at: time.Now()}
	dir := t.TempDir()
	waits := []func(*app.Config){policy(`{"review":{"rules":[{"wait_s":3600}]}}`), func(c *app.Config) { c.Now, c.DataDir = time0.now, dir }}
	s := open(t, waits...)
	alice, otto := s.person("alice", "operator"), s.keyOf("otto", "approver")
	run := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(run)
	if gate.DecidableAt == nil || !gate.DecidableAt.Equal(gate.CreatedAt.Add(time.Hour)) || !gate.ExpiresAt.After(*gate.DecidableAt) {
		t.Fatalf("it may be decided from %v on, and expires at %v", gate.DecidableAt, gate.ExpiresAt)
	}
	early := func(name string) {
		t.Helper()
		if _, err := s.with(otto).Approve(t.Context(), gate, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeConflict || !strings.Contains(err.Error(), "from ") {
			t.Errorf("%s: %v", name, err)
		}
		s.untouched(gate, name)
	}
	early("an approval at once")
	time0.passes(59 * time.Minute)
	early("an approval a minute early")
	s.again(waits...)
	early("an approval after a restart")
	time0.passes(2 * time.Minute)
	s.approves(s.with(otto), gate)
	s.ended(run)
}

// bell is a receiver of notices.
type bell struct {
	mu    sync.Mutex
	heard []map[string]any
	url   string
}

func newBell(t *testing.T) *bell {
	t.Helper()
	b := &bell{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body map[string]any
		if err == nil && json.Unmarshal(raw, &body) == nil {
			b.mu.Lock()
			b.heard = append(b.heard, body)
			b.mu.Unlock()
		}
	}))
	t.Cleanup(srv.Close)
	b.url = srv.URL
	return b
}

func (b *bell) of(event string) []map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []map[string]any
	for _, n := range b.heard {
		if n["event"] == event {
			out = append(out, n)
		}
	}
	return out
}

func TestWhoIsNamedIsRemindedAndNobodyElseGainsARight(t *testing.T) {
	t.Parallel()
	time0, bell := &clock{at: time.Now()}, newBell(t)
	dir := t.TempDir()
	rules := []func(*app.Config){
		policy(`{"review":{"rules":[{"remind_s":600,"escalate_s":1500,"escalate_to":["boss","carl"]}]}}`),
		func(c *app.Config) { c.Now, c.DataDir = time0.now, dir },
	}
	s := open(t, rules...)
	alice, boss, carl := s.keyOf("alice", "operator"), s.keyOf("boss", "approver"), s.keyOf("carl", "viewer")
	gate := s.gate(s.tells(s.with(alice), bell.url, "vault.pay", toAlice))
	heard := func(event string, n int) []map[string]any {
		t.Helper()
		return eventually(t, event, func() ([]map[string]any, bool) { got := bell.of(event); return got, len(got) >= n })
	}
	heard("interrupt", 1)
	if len(bell.of("reminder")) != 0 {
		t.Fatal("reminded at once")
	}
	time0.passes(11 * time.Minute)
	if first := heard("reminder", 1)[0]; first["interrupt_id"] != gate.InterruptID {
		t.Errorf("reminded of %v", first)
	}
	s.again(rules...)
	time0.passes(15 * time.Minute)
	heard("reminder", 2)
	if up := heard("escalation", 1)[0]; asJSON(up["to"]) != asJSON([]string{"boss", "carl"}) {
		t.Errorf("escalated %v", up)
	}
	if _, err := s.with(carl).Approve(t.Context(), gate, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("who was told of it, and has no right: %v", err)
	}
	s.approves(s.with(boss), gate)
	before := len(bell.of("reminder"))
	time0.passes(time.Hour)
	other := s.gate(s.tells(s.with(alice), bell.url, "vault.pay", toAlice)) // its notice comes after all that is due
	eventually(t, "the notice of another", func() (bool, bool) {
		for _, n := range bell.of("interrupt") {
			if n["interrupt_id"] == other.InterruptID {
				return true, true
			}
		}
		return false, false
	})
	if after := len(bell.of("reminder")); after != before {
		t.Errorf("reminded %d times of what was decided", after-before)
	}
}

func TestARuleThatMakesNoSenseIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{
		"an escalation beyond the pool": `{"people":["otto"],"escalate_s":60,"escalate_to":["carl"]}`,
		"an escalation to nobody":       `{"escalate_s":60}`,
		"a wait of a year":              `{"wait_s":31536000}`,
		"a negative quorum":             `{"quorum":-1}`,
		"a reminder each second":        `{"remind_s":1}`,
	} {
		cfg := app.Config{Addr: "127.0.0.1:0", DataDir: t.TempDir(), Bootstrap: []byte(`{"domains":[],"site_policy":{"review":{"rules":[` + rule + `]}}}`)}
		if a, err := app.New(t.Context(), cfg); err == nil {
			_ = a.Stop(t.Context())
			t.Errorf("%s is accepted", name)
		}
	}
}
