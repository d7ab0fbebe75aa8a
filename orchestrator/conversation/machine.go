package conversation

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation/command"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// machine processes turns until they have an outcome. Each step depends only on the turn and the
// store. Whatever a step creates outside the turn has an id derived from the turn, or is found if
// it exists already, so that a step that runs twice, for a repeat or after a crash, has one effect.
// machine holds no state but the model calls in progress.
type machine struct {
	now      func() time.Time
	restored time.Time
	logger   *slog.Logger
	dir      *sessions.Directory
	turns    orchestrator.Turns
	store    execution.Store
	gates    *gates.Gates
	runner   *execution.Runner
	local    *local.Reader
	reader   *classifier
	// plain means that free text of a model is not displayed.
	plain    bool
	intents  *intent.Adapter
	catalogs orchestrator.Catalogs
	notifier orchestrator.Notifier
	leases   orchestrator.LeaseStore
	runs     *runs.Runs
	commands *command.Commands
	// reading has the messages that a model is reading.
	reading singleflight.Group
}

// maxSteps bounds how often a turn is reloaded while others save it: each of them has made a step.
const maxSteps = 20

// finish runs and saves steps of a turn until it has an outcome. resumed means that an earlier
// delivery may have run any of them.
func (m *machine) finish(ctx context.Context, t orchestrator.Turn, resumed bool) (orchestrator.Turn, error) {
	for range maxSteps {
		if t.Outcome != "" {
			return t, nil
		}
		result := m.stepExclusively(ctx, t, resumed)
		if result.unchanged {
			return t, result.refused
		}
		saved, refused, err := result.turn, result.refused, result.err
		switch {
		case contracts.CodeOf(err) == contracts.CodeConflict: // another process has made a step
			if t, err = m.turns.Turn(ctx, t.TurnKey); err != nil {
				return t, err
			}
			resumed = true
			continue
		case err != nil || refused != nil:
			return saved, cmp.Or(refused, err)
		}
		t = saved
	}
	return t, contracts.Errorf(contracts.CodeUnavailable, "this message is being taken elsewhere; ask again in a moment")
}

// step runs one step and returns the turn to be saved. If it returns an error, the turn is not
// saved.
func (m *machine) step(ctx context.Context, t orchestrator.Turn, resumed bool) (orchestrator.Turn, error) {
	switch t.Kind {
	case orchestrator.TurnReply:
		return m.reply(ctx, t)
	case orchestrator.TurnDecision:
		if t.Resume != nil {
			return m.decision(ctx, t, resumed)
		}
		return m.commands.Turn(ctx, t)
	case orchestrator.TurnCommand:
		return m.commands.Turn(ctx, t)
	case orchestrator.TurnRequest:
	}
	return m.request(ctx, t)
}

// reply commits the answer to a question. If a turn has asked it, not a run, it then finishes that
// turn.
func (m *machine) reply(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	i, err := execution.GetInterrupt(ctx, m.store, t.AnsweredQuestionID)
	if err != nil {
		return t, err
	}
	if i.Status == contracts.InterruptOpen {
		answered, err := m.gates.Decide(ctx, t.By, i, *t.Resume)
		if contracts.CodeOf(err) == contracts.CodeConflict {
			answered, err = execution.GetInterrupt(ctx, m.store, t.AnsweredQuestionID) // another person was faster, or this turn in another process
		}
		if err != nil {
			return t, err
		}
		i = answered
	}
	if !answeredBy(i, t.By) {
		e := contracts.Errorf(contracts.CodeConflict, "%s was answered already", i.Code)
		e.Detail = i
		return t, e
	}
	t.RunID, t.Outcome = i.RunID, orchestrator.TurnRun
	if i.RunID != "" {
		return t, nil
	}
	asking, err := m.resumeTurn(ctx, t, i)
	t.Outcome, t.RunID = orchestrator.TurnAnswered, asking.RunID
	if asking.SessionID != "" {
		t.AskingTurn = &asking.TurnKey
	}
	return t, err
}

func answeredBy(i contracts.Interrupt, who access.Principal) bool {
	return i.Status == contracts.InterruptAnswered && slices.ContainsFunc(i.Decisions, func(d contracts.InterruptDecided) bool {
		return d.DecidedBy == who.Subject()
	})
}

// resumeTurn stores the answer in the turn that asked the question and then finishes that turn. The
// answer is saved with a version check, so that concurrent callers apply it once.
func (m *machine) resumeTurn(ctx context.Context, reply orchestrator.Turn, i contracts.Interrupt) (orchestrator.Turn, error) {
	asking, err := m.asking(ctx, reply, i)
	for err == nil && waits(asking, i) {
		next := asking
		next.By, next.Outcome, next.InterruptID, next.Question = reply.By, "", "", nil
		if refused := m.takeAnswer(&next, i.Response); refused != nil {
			next = couldNot(next, refused)
		}
		saved, saving := m.turns.SaveTurn(ctx, next)
		if contracts.CodeOf(saving) == contracts.CodeConflict {
			asking, err = m.turns.Turn(ctx, asking.TurnKey)
			continue
		}
		asking, err = saved, saving
	}
	if err != nil || asking.SessionID == "" {
		return asking, err
	}
	return m.finish(ctx, asking, true)
}

// waits reports whether a turn still waits for the answer to a question. An interrupted turn may
// still have the Question, although it is open or even answered.
func waits(t orchestrator.Turn, i contracts.Interrupt) bool {
	return t.InterruptID == i.InterruptID && (t.Outcome == orchestrator.TurnClarifying || t.Question != nil)
}

// asking returns the turn that asked a question, or a zero turn if it was deleted: a question may
// outlive its turn.
func (m *machine) asking(ctx context.Context, reply orchestrator.Turn, i contracts.Interrupt) (t orchestrator.Turn, err error) {
	if reply.AskingTurn != nil {
		t, err = m.turns.Turn(ctx, *reply.AskingTurn)
	} else {
		t, err = waitingFor(ctx, m.turns, i.InterruptID)
	}
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return orchestrator.Turn{}, nil
	}
	return t, err
}

// waitingFor returns the turn that waits for the answer to a question, or not_found.
func waitingFor(ctx context.Context, turns orchestrator.Turns, interruptID string) (orchestrator.Turn, error) {
	found, err := turns.ListTurns(ctx, orchestrator.TurnFilter{InterruptID: interruptID})
	switch {
	case err != nil:
		return orchestrator.Turn{}, err
	case len(found) > 0 && found[len(found)-1].InterruptID == interruptID:
		return found[len(found)-1], nil
	}
	return orchestrator.Turn{}, contracts.Errorf(contracts.CodeNotFound, "no turn waits for interrupt %q", interruptID)
}

// decision commits a decision about one gate.
func (m *machine) decision(ctx context.Context, t orchestrator.Turn, resumed bool) (orchestrator.Turn, error) {
	i, err := execution.GetInterrupt(ctx, m.store, t.Gate)
	if err != nil {
		return t, err
	}
	if !resumed || !gates.DecidedBy(i, t.By.Subject(), t.Resume.Decision) {
		if i, err = m.gates.Decide(ctx, t.By, i, *t.Resume); err != nil {
			return t, err
		}
	}
	t.Outcome, t.RunID = orchestrator.TurnAnswered, i.RunID
	return t, nil
}

const (
	// maxFinishDelay is the age from which the sweep no longer finishes an interrupted turn.
	maxFinishDelay = time.Hour
	// withdrawn is how long to wait for a cancelled run to end.
	withdrawn = 10 * time.Second
	// sweepPage is the maximum number of turns in one sweep.
	sweepPage = 100
)

// sweep finishes the turns that began before a time and have no outcome.
func (m *machine) sweep(ctx context.Context, before time.Time) {
	turns, err := m.turns.ListTurns(ctx, orchestrator.TurnFilter{Unfinished: true, Before: before, Limit: sweepPage})
	if err != nil && ctx.Err() == nil {
		m.logger.WarnContext(ctx, "interrupted messages are not looked for", slog.Any("error", err))
	}
	for _, t := range turns {
		if err := m.finishLate(ctx, t); err != nil && ctx.Err() == nil {
			m.logger.WarnContext(ctx, "interrupted message is not finished yet", slog.String("session_id", t.SessionID), slog.Any("error", err))
		}
	}
}

// finishLate finishes an interrupted turn, or ends it with a notice if it is too old.
func (m *machine) finishLate(ctx context.Context, t orchestrator.Turn) error {
	if t.By.ID != "" && m.now().Sub(t.CreatedAt) < maxFinishDelay && !t.CreatedAt.Before(m.restored) {
		_, err := m.finish(ctx, t, true)
		if !command.Retryable(err) {
			return nil // the reason is stored in the turn
		}
		return err
	}
	t.Outcome, t.Notice = orchestrator.TurnAnswered, interrupted
	t.Answer = &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockNote, Text: interrupted}}}
	_, err := m.turns.SaveTurn(ctx, t)
	if contracts.CodeOf(err) == contracts.CodeConflict {
		return nil
	}
	m.notifier.Committed(t.SessionID, "")
	return err
}

const interrupted = "This was interrupted before it came to anything. Say it again if you still want it."
