package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func wait() client.Opt { return client.Opt{Wait: 30 * time.Second} }

func TestASentenceBecomesAnAnswer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: "what is the stock price of Apple"}, wait())
	if err != nil || session.Status != contracts.SessionCompleted || session.Answer == nil {
		t.Fatalf("%+v %v", session, err)
	}
	events, err := s.rita.Events(t.Context(), session.SessionID, 0, 0)
	if err != nil || len(events) == 0 || events[0].Seq != 1 || events[len(events)-1].Seq != int64(len(events)) {
		t.Errorf("%+v %v", events, err)
	}
	rest, err := s.rita.RunEvents(t.Context(), session.RunIDs[0], events[0].Seq, 2)
	if err != nil || len(rest) != 2 || rest[0].Seq != 2 {
		t.Errorf("%+v %v", rest, err)
	}
	if summary, err := s.rita.SessionSummary(t.Context(), session.SessionID); err != nil || !strings.Contains(summary, session.RunIDs[0]) {
		t.Errorf("%s %v", summary, err)
	}
	renamed, err := s.rita.RenameSession(t.Context(), session.SessionID, "Apple")
	if err != nil || renamed.Name != "Apple" {
		t.Errorf("%+v %v", renamed, err)
	}
	if err := s.rita.DeleteSession(t.Context(), session.SessionID); err != nil {
		t.Error(err)
	}
	if _, err := s.rita.Session(t.Context(), session.SessionID, client.Opt{}); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("after the deletion: %v", err)
	}
}

func TestAPlanIsShownRunApprovedVerifiedAndUndone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	preview, err := s.rita.Plan(t.Context(), contracts.PlanRequest{Message: alert})
	if err != nil || preview.Plan == nil || len(preview.Rows) == 0 || !strings.Contains(preview.Mermaid, "n1") {
		t.Fatalf("%+v %v", preview, err)
	}
	session, err := s.rita.RunPlan(t.Context(), contracts.RunPlan{PlanHash: preview.PlanHash}, wait())
	if err != nil || session.Interrupt == nil {
		t.Fatalf("%+v %v", session, err)
	}
	gate := *session.Interrupt
	if _, err := s.rita.Approve(t.Context(), gate, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeForbidden {
		t.Errorf("the requester approves: %v", err)
	}
	stale := gate
	stale.ActionSHA256 = strings.Repeat("0", 64)
	if _, err := s.otto.Approve(t.Context(), stale, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeStaleApproval {
		t.Errorf("another action is approved: %v", err)
	}
	if _, err := s.otto.Approve(t.Context(), gate, "fine", wait()); err != nil {
		t.Fatal(err)
	}
	view, err := client.AwaitRun(t.Context(), s.rita, gate.RunID)
	if err != nil || view.State != contracts.RunCompleted || view.Verdict.Status != contracts.VerdictVerified {
		t.Fatalf("%s %+v %v", view.State, view.Verdict, err)
	}
	s.recorded(gate.RunID)
	undo, err := s.rita.Compensate(t.Context(), gate.RunID, gate.NodeID, wait())
	if err != nil || undo.Interrupt == nil || undo.Interrupt.RunID == gate.RunID {
		t.Errorf("%+v %v", undo, err)
	}
}

// recorded checks the records of a completed run.
func (s *site) recorded(run string) {
	s.t.Helper()
	entries, err := s.rita.Ledger(s.t.Context(), run)
	if err != nil {
		s.t.Fatal(err)
	}
	var kinds []contracts.LedgerKind
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	want := []contracts.LedgerKind{contracts.LedgerPlan, contracts.LedgerDecision, contracts.LedgerIntent, contracts.LedgerOutcome}
	if diff := cmp.Diff(want, kinds); diff != "" {
		s.t.Errorf("ledger:\n%s", diff)
	}
	if r, err := s.rita.Replay(s.t.Context(), run); err != nil || len(r.Differences) > 0 || r.State != contracts.RunCompleted {
		s.t.Errorf("replay %+v %v", r, err)
	}
	if r, err := s.rita.AuditVerify(s.t.Context(), run); err != nil || !r.OK || r.Entries != len(entries) {
		s.t.Errorf("audit %+v %v", r, err)
	}
	if locks, err := s.rita.Locks(s.t.Context()); err != nil || len(locks) > 0 {
		s.t.Errorf("locks %+v %v", locks, err)
	}
}

func TestAQuestionIsAnsweredBySayingMore(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: "set a price alert"}, wait())
	for range 4 {
		if err != nil || session.Interrupt == nil || session.Interrupt.Type != contracts.InterruptClarification {
			break
		}
		word := "AAPL"
		if schema := session.Interrupt.ResponseSchema; schema["type"] == "number" {
			word = "250"
		} else if len(session.Interrupt.Options) > 0 {
			word = session.Interrupt.Options[0].ID
		}
		session, err = s.rita.Say(t.Context(), session.SessionID, word, wait())
	}
	if err != nil || session.Interrupt == nil || session.Interrupt.Type != contracts.InterruptWriteApproval {
		t.Errorf("%+v %v", session, err)
	}
}

func TestARunThatIsCancelledNeedsNobodyAnyMore(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session, gate := s.waiting(s.rita)
	view, err := s.rita.CancelRun(t.Context(), gate.RunID)
	if err != nil || !view.State.Terminal() {
		t.Fatalf("%s %v", view.State, err)
	}
	_, err = s.otto.Approve(t.Context(), gate, "", client.Opt{})
	if contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("approved after the cancel: %v", err)
	}
	if open, err := s.rita.Gates(t.Context(), client.GatesFilter{SessionID: session.SessionID, Status: contracts.InterruptOpen}); err != nil || len(open) > 0 {
		t.Errorf("%+v %v", open, err)
	}
}

func TestAListShowsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, first := s.waiting(s.rita)
	second, _ := s.waiting(s.otto2())
	mine, err := s.rita.Runs(t.Context(), client.RunsFilter{State: contracts.RunWaiting})
	if err != nil || len(mine) != 1 || mine[0].RunID != first.RunID {
		t.Errorf("%+v %v", mine, err)
	}
	all, err := s.rita.Runs(t.Context(), client.RunsFilter{Everybody: true, Limit: 1})
	if err != nil || len(all) != 1 || all[0].SessionID != second.SessionID {
		t.Errorf("%+v %v", all, err)
	}
	older, err := s.rita.Runs(t.Context(), client.RunsFilter{Everybody: true, Before: all[0].CreatedAt})
	if err != nil || len(older) != 1 || older[0].RunID != first.RunID {
		t.Errorf("%+v %v", older, err)
	}
	gates, err := s.otto.Gates(t.Context(), client.GatesFilter{RunID: first.RunID, Type: contracts.InterruptWriteApproval})
	if err != nil || len(gates) != 1 || gates[0].Code != first.Code {
		t.Errorf("%+v %v", gates, err)
	}
	if none, err := s.otto.Gates(t.Context(), client.GatesFilter{Status: contracts.InterruptRejected}); err != nil || len(none) != 0 {
		t.Errorf("%+v %v", none, err)
	}
	if a := s.send("otto", "GET", "/v1/sessions", ""); a.status != http.StatusOK || a.body != `{"items":[]}` {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// otto2 returns another operator.
func (s *site) otto2() *client.Client {
	s.t.Helper()
	return s.person("olga", "operator")
}

func TestADomainIsRegisteredShownAndForgotten(t *testing.T) {
	t.Parallel()
	s := setup(t)
	detail, err := s.rita.Domain(t.Context(), "finance")
	if err != nil || detail.Outcome != contracts.DomainActive || len(detail.Manifest) == 0 {
		t.Fatalf("%+v %v", detail.DomainView, err)
	}
	_, err = s.admin.RegisterDomain(t.Context(), contracts.Registration{Domain: "finance", URL: detail.URL, PollS: 77})
	if contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("what the file manages is changed: %v", err)
	}
	_, err = s.admin.RegisterDomain(t.Context(), contracts.Registration{Domain: "mimic", URL: detail.URL})
	if err == nil || !strings.Contains(err.Error(), "finance") {
		t.Errorf("a manifest of another name is taken: %v", err)
	}
	if _, err = s.admin.RefreshDomain(t.Context(), "nowhere"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("%v", err)
	}
	if diff, err := s.admin.DiffDomain(t.Context(), "finance"); err != nil || len(diff.Changed) > 0 {
		t.Errorf("%+v %v", diff, err)
	}
	capabilities, err := s.rita.Capabilities(t.Context(), "finance")
	if err != nil || len(capabilities) != detail.Capabilities {
		t.Errorf("%d capabilities, %v", len(capabilities), err)
	}
	if _, err := s.rita.Capabilities(t.Context(), "nowhere"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("%v", err)
	}
}

func TestAKeyReachesNoFurtherThanItsScopes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	reader := s.with(s.key(contracts.KeySpec{
		Kind: "service", Principal: "reader", Roles: []string{"operator"},
		Scopes: contracts.KeyScopes{Classes: []contracts.SideEffectClass{contracts.ClassRead}},
	}))
	session, err := reader.StartSession(t.Context(), contracts.StartSession{Message: alert}, wait())
	if err != nil || len(session.RunIDs) > 0 || session.Answer == nil || session.Answer.Blocks[0].Kind != contracts.BlockError {
		t.Errorf("%+v %v", session, err)
	}
	me, err := reader.Whoami(t.Context())
	want := contracts.KeyScopes{Classes: []contracts.SideEffectClass{contracts.ClassRead}}
	if err != nil || me.Subject != "service:reader" || !cmp.Equal(me.Scopes, want) {
		t.Errorf("%+v %v", me, err)
	}
}
