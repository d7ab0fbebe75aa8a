package orchestratortest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
)

// Run tests the empty stores that open returns, as used by the use cases. What they must do for
// runs is tested in executiontest.
func Run(t *testing.T, open func(t *testing.T) Opened) {
	t.Helper()
	tests := map[string]func(t *testing.T, s Opened){
		"a session comes back as it was created":                           sessionComesBack,
		"a session id is taken once":                                       sessionIDOnce,
		"a session and its first run are made together":                    sessionWithRun,
		"sessions are listed newest first, by owner and time":              sessionsAreListed,
		"sessions are listed page by page, each once":                      sessionsArePaged,
		"gates are listed to those who may see them":                       gatesInSight,
		"what nobody has touched for long is swept, and nothing open":      idleTalkIsSwept,
		"gates are listed page by page, and the limit counts what is seen": gatesArePaged,
		"a renamed session keeps everything else":                          sessionIsRenamed,
		"an unknown session, turn, preview or delivery is no surprise":     unknownRows,
		"a deleted session takes its runs and questions along":             sessionIsDeleted,
		"a session with an open run stays whole":                           openRunKeepsSession,
		"a message sent twice is one turn":                                 turnOnce,
		"of many equal messages at once exactly one begins a turn":         oneTurnBegins,
		"of all who save a version of a session one does":                  sessionIsSavedOnceAVersion,
		"of all who save a version of a turn one does":                     turnIsSavedOnceAVersion,
		"turns without outcome are found":                                  unfinishedTurns,
		"a turn is found by its open question":                             turnByInterrupt,
		"where a session stands is read at one moment":                     sessionStands,
		"a preview belongs to its owner and expires":                       previewsExpire,
		"the first secret of a name is everyone's":                         oneSecret,
		"each interrupt of a session with a webhook makes one delivery":    interruptsMakeDeliveries,
		"reminders and escalations wait in the outbox until they are due":  remindersWait,
		"a refused commit makes no delivery":                               refusalMakesNoDelivery,
		"a delivery is put off, counted, and done":                         deliveriesAreDrained,
		"a delivery that is claimed is nobody else's until the claim ends": deliveryIsClaimedByOne,
		"a notice tells what is asked, and none of the parameters":         noticeHoldsNoParameters,
		"a clarification before there is a run makes an event and notice":  clarificationIsNotified,
		"what a channel brings twice is received once":                     itemOnce,
		"of many equal deliveries at once exactly one is fresh":            oneReceives,
		"what was answered is finished, and forgotten later":               itemIsFinished,
		"what cannot be answered is given up, with the problem":            itemIsGivenUp,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// day returns the time of the examples.
func day() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC) }

func exampleSession(id string, minute int) orchestrator.Session {
	at := day().Add(time.Duration(minute) * time.Minute)
	return orchestrator.Session{
		ID: id, Name: "talk " + id, Owner: contracts.Principal{ID: "ana", Roles: []string{"operator"}},
		WebhookURL: "https://hooks.example/" + id, Instances: map[string]string{"alpha": "test"},
		Options: map[string]map[string]any{"alpha": {"depth": 2.0}}, Budgets: contracts.Budgets{MaxNodes: 7},
		CreatedAt: at, UpdatedAt: at,
	}
}

func exampleTurn(session, key string) orchestrator.Turn {
	return orchestrator.Turn{
		TurnKey:   orchestrator.TurnKey{Conversation: session, Key: key, Model: "alpha"},
		SessionID: session, Message: "compare <two> things", Fingerprint: "hash", CreatedAt: day(),
	}
}

func createSession(t *testing.T, s Opened, session orchestrator.Session) {
	t.Helper()
	if err := s.CreateSession(t.Context(), session); err != nil {
		t.Fatalf("create session %s: %v", session.ID, err)
	}
}

// createRun inserts a run of a session, leased for an hour.
func createRun(t *testing.T, s Opened, id, session string, first execution.Transition) execution.Lease {
	t.Helper()
	run := execution.Run{
		ID: id, SessionID: session, Format: execution.Format, Owner: "one", State: contracts.RunRunning,
		Plan: contracts.Plan{RunID: id, Owner: contracts.Principal{ID: "ana"}}, CreatedAt: day(), UpdatedAt: day(),
	}
	if err := s.CreateRun(t.Context(), run, time.Hour, first); err != nil {
		t.Fatalf("create run %s: %v", id, err)
	}
	return execution.Lease{RunID: id, Owner: "one", Epoch: 1}
}

func gate(id, session, run string) contracts.Interrupt {
	return contracts.Interrupt{
		InterruptID: id, Code: "C" + id, Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen,
		SessionID: session, RunID: run, NodeID: "n1", ToolName: "alpha.change", RiskLevel: contracts.RiskHigh,
		Reason: "writes need approval", Prompt: "Change it?", CreatedAt: day(),
		Action: &contracts.Action{Capability: "alpha.change", Parameters: map[string]any{"salary": "very private"}},
	}
}

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
