package attack_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func TestAPeerDeletesNobodysSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, mallory := s.person("alice", "operator"), s.person("mallory", "operator", "approver")
	for name, who := range map[string]*client.Client{"its owner": alice, "an admin": s.root} {
		session, err := alice.StartSession(t.Context(), contracts.StartSession{Message: "help"}, client.Opt{})
		if err != nil {
			t.Fatal(err)
		}
		if err := mallory.DeleteSession(t.Context(), session.SessionID); contracts.CodeOf(err) != contracts.CodeForbidden {
			t.Errorf("a peer deleted a session: %v", err)
		}
		if err := who.DeleteSession(t.Context(), session.SessionID); err != nil {
			t.Errorf("%s may not delete it: %v", name, err)
		}
	}
}

// What is not theirs must read as if it were not there: the same words, the same
// status, the same pages.
func TestNothingIsLearnedOfOthersGates(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.person("otto", "approver")
	eve := s.key(s.root, contracts.KeySpec{Kind: "user", Principal: "eve", Roles: []string{"viewer"}})
	var gates []contracts.Interrupt
	for range 5 {
		gates = append(gates, s.gate(s.asks(alice, "vault.pay", toAlice)))
	}
	s.approves(otto, gates[0])
	for _, query := range []string{"", "?limit=1", "?limit=1000", "?status=open", "?status=approved", "?run_id=" + gates[1].RunID, "?session_id=" + gates[1].SessionID, "?type=write_approval", "?cursor=1", "?limit=1&cursor=2"} {
		got := s.sends(eve, http.MethodGet, "/v1/gates"+query, nil)
		if got.status != http.StatusOK || got.body != `{"items":[]}` {
			t.Errorf("GET /v1/gates%s: %d %s", query, got.status, got.body)
		}
	}
	body := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: gates[1].ActionSHA256}
	for _, ask := range []struct {
		method, before, after string
		body                  any
	}{
		{http.MethodGet, "/v1/gates/", "", nil},
		{http.MethodPost, "/v1/gates/", "/decision", body},
	} {
		for _, id := range []string{gates[0].InterruptID, gates[1].InterruptID, gates[1].Code, strings.ToLower(gates[2].Code)} {
			there := s.sends(eve, ask.method, ask.before+id+ask.after, ask.body)
			none := s.sends(eve, ask.method, ask.before+"gate_aaaaaaaaaaaaaaaaaaaa"+ask.after, ask.body)
			if there.status != none.status || scrubbed(there.body, id) != scrubbed(none.body, "gate_aaaaaaaaaaaaaaaaaaaa") {
				t.Errorf("%s of a gate that is there: %d %s\nof none: %d %s", ask.method, there.status, there.body, none.status, none.body)
			}
		}
	}
	for _, path := range []string{"/v1/runs/" + gates[1].RunID, "/v1/runs/" + gates[1].RunID + "/ledger", "/v1/runs/" + gates[1].RunID + "/events", "/v1/sessions/" + gates[1].SessionID, "/v1/sessions/" + gates[1].SessionID + "/events"} {
		parts := strings.Split(path, "/")
		id := parts[3]
		none := s.sends(eve, http.MethodGet, strings.Replace(path, id, "none_x", 1), nil)
		there := s.sends(eve, http.MethodGet, path, nil)
		if there.status != none.status || scrubbed(there.body, id) != scrubbed(none.body, "none_x") {
			t.Errorf("%s: %d %s\nof none: %d %s", path, there.status, there.body, none.status, none.body)
		}
	}
}

// scrubbed takes out of an answer what differs from request to request.
func scrubbed(body, id string) string {
	body = strings.ReplaceAll(strings.ReplaceAll(body, id, "ID"), strings.ToUpper(id), "ID")
	before, rest, ok := strings.Cut(body, `"request_id":"`)
	if !ok {
		return body
	}
	_, after, _ := strings.Cut(rest, `"`)
	return before + after
}

func TestARevokedKeyDecidesNothingMore(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"floor":{"approval":{"quorum":2}}}`))
	alice, mole, otto := s.person("alice", "operator"), s.person("mole", "approver"), s.person("otto", "approver")
	olga := s.person("olga", "approver")
	run := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(run)
	s.approves(mole, gate)
	keys, err := s.root.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Principal == "mole" {
			if err := s.root.RevokeKey(t.Context(), k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.approves(otto, gate); got.Status != contracts.InterruptOpen {
		t.Fatalf("the approval of a key that was revoked since counts: %s", got.Status)
	}
	if got := s.approves(olga, gate); got.Status != contracts.InterruptApproved {
		t.Fatalf("two people with keys have approved: %s", got.Status)
	}
	s.ended(run)
}

// TestWhoGetsANewKeyMayApproveAgain: what they approved with the one that was revoked
// no longer counts, and nobody else might be left who could approve.
func TestWhoGetsANewKeyMayApproveAgain(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"floor":{"approval":{"quorum":2}}}`))
	alice, mia, otto := s.person("alice", "operator"), s.person("mia", "approver"), s.person("otto", "approver")
	run := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(run)
	s.approves(mia, gate)
	s.revokes("mia")
	if got := s.approves(otto, gate); got.Status != contracts.InterruptOpen {
		t.Fatalf("the approval of a key that was revoked since counts: %s", got.Status)
	}
	if got := s.approves(s.person("mia", "approver"), gate); got.Status != contracts.InterruptApproved {
		t.Fatalf("two people with keys have approved: %s", got.Status)
	}
	s.ended(run)
}

func TestGuessingKeysIsLimited(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 400 {
		if got := s.sends("mfk_aaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", http.MethodGet, "/v1/whoami", nil); got.status == http.StatusTooManyRequests {
			if _, err := s.root.Whoami(t.Context()); err != nil {
				t.Errorf("who has a key suffers from the same address: %v", err)
			}
			return
		}
	}
	t.Error("400 wrong keys in a row were judged")
}

// TestTimeTellsNothingOfOthersGates: how long a refusal takes does not tell a gate of
// others from none. Compared is each refusal of the one kind with each of the other,
// asked in turn, so that the speed of the machine tells nothing either.
func TestTimeTellsNothingOfOthersGates(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice := s.person("alice", "operator")
	eve := s.key(s.root, contracts.KeySpec{Kind: "user", Principal: "eve", Roles: []string{"viewer"}})
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	const pairs = 60
	for _, real := range []string{gate.InterruptID, gate.Code} {
		invented := "gate_" + strings.Repeat("a", max(0, len(real)-len("gate_")))
		if real == gate.Code {
			invented = strings.Map(func(r rune) rune { return r ^ 1 }, real)
		}
		var there, none []time.Duration
		for range pairs {
			for id, times := range map[string]*[]time.Duration{real: &there, invented: &none} {
				began := time.Now()
				if got := s.sends(eve, http.MethodGet, "/v1/gates/"+id, nil); got.status != http.StatusNotFound {
					t.Fatalf("%s: %d %s", id, got.status, got.body)
				}
				*times = append(*times, time.Since(began))
			}
		}
		longer := 0
		for _, a := range there {
			for _, b := range none {
				if a > b {
					longer++
				}
			}
		}
		share := float64(longer) / (pairs * pairs)
		t.Logf("a gate of others takes longer than none %.0f %% of the time (%s)", 100*share, real)
		if share > 0.75 || share < 0.25 {
			t.Errorf("time tells %s from none: it takes longer %.0f %% of the time", real, 100*share)
		}
	}
}
