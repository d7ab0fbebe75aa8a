package orchestratortest

import (
	"testing"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
	"github.com/manifold-run/manifold/orchestrator/audit"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Ports are the ports of the use cases.
type Ports struct {
	Sessions orchestrator.Sessions
	Gates    orchestrator.GateList
	Turns    orchestrator.Turns
	Previews orchestrator.Previews
	Runs     execution.Store
	Runner   *execution.Runner
	Catalogs orchestrator.Catalogs
	Notifier orchestrator.Notifier
	// Proofs may be nil: then nothing is sealed or logged.
	Proofs audit.Proofs
	// Intents is a trained matcher; nil creates a new one.
	Intents *local.Reader
}

// Rooms are all use cases of the orchestrator, wired as in the server.
type Rooms struct {
	Sessions     *sessions.Directory
	Gates        *gates.Gates
	Runs         *runs.Runs
	Conversation *conversation.Conversation
	Audit        *audit.Audit
}

// Wire wires the use cases with the ports.
func Wire(tb testing.TB, p Ports) Rooms {
	tb.Helper()
	var r Rooms
	var err error
	intents := p.Intents
	if intents == nil {
		intents, err = local.New(local.Config{})
		must(tb, err)
	}
	live := orchestrator.NewEventBroker(p.Runs, p.Notifier, nil)
	tb.Cleanup(live.Stop)
	r.Sessions, err = sessions.New(sessions.Config{}, p.Sessions, p.Runs, live)
	must(tb, err)
	r.Gates, err = gates.New(gates.Deps{
		Store: p.Runs, List: p.Gates, Runner: p.Runner, Sessions: r.Sessions, Notifier: p.Notifier,
		Reviewers: access.NewReviewers(access.NewKeys(accesstest.NewStore(), nil), access.ReviewConfig{}),
	})
	must(tb, err)
	r.Runs, err = runs.New(runs.Config{}, runs.Deps{
		Store: p.Runs, Runner: p.Runner, Previews: p.Previews, Sessions: r.Sessions, Local: intents, Catalogs: p.Catalogs, Notifier: p.Notifier,
	})
	must(tb, err)
	r.Conversation, err = conversation.New(conversation.Config{}, conversation.Deps{
		Sessions: r.Sessions, Gates: r.Gates, Runs: r.Runs, Turns: p.Turns, Store: p.Runs,
		Runner: p.Runner, Local: intents, Catalogs: p.Catalogs, Notifier: p.Notifier,
	})
	must(tb, err)
	proofs := p.Proofs
	if proofs == nil {
		proofs = unproven{p.Runs}
	}
	r.Audit, err = audit.New(p.Runs, proofs, nil, p.Runner, r.Runs, r.Sessions, r.Conversation)
	must(tb, err)
	return r
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
