// Package decision interprets the responses of people to interrupts and computes the result: which
// decisions a gate accepts, what an answer means, and what would have been valid. It has no state
// and no store; callers pass the current interrupt.
package decision

import (
	"reflect"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// Decider is the person who decides.
type Decider struct {
	// ID identifies the person in decisions and ledger.
	ID string
	// Via is the interface of the decision, KeyID the key and From the address; all are recorded.
	Via, KeyID, From string
	// IsRevoked reports whether an earlier approval no longer counts; nil means never.
	IsRevoked func(d contracts.InterruptDecided) bool
	// Relation returns the decider's relation to the action; nil means none.
	Relation func(i contracts.Interrupt) contracts.DeciderRelation
	// May returns an error if the person may not decide, given the current interrupt.
	May func(i contracts.Interrupt, d contracts.Decision) error
}

// Given is a response to an interrupt, interpreted once: the schema of an answer is compiled once
// even if the decision is computed several times.
type Given struct {
	body     contracts.Resume
	question contracts.Interrupt
	value    any
	err      error
}

// Read interprets a response to an interrupt. An invalid answer is refused only by Decide, after
// the check whether the person may see the question.
func Read(i contracts.Interrupt, body contracts.Resume) Given {
	if i.Workflow != "" { // a question; its answers may have the form of decisions
		body = contracts.Resume{Response: fromDecision(body), Comment: body.Comment, ActionSHA256: body.ActionSHA256}
	}
	g := Given{body: body, question: i}
	if !i.Type.IsGate() && i.Status == contracts.InterruptOpen {
		g.value, g.err = Value(i, body.Response)
	}
	return g
}

// Decide applies the response to an open interrupt, or returns invalid, forbidden, conflict or
// stale_approval. After an error the caller must not store the interrupt.
func (g Given) Decide(i *contracts.Interrupt, who Decider, now time.Time) error {
	if i.Type.IsGate() {
		return g.gate(i, who, now)
	}
	return g.answer(i, who, now)
}

// still reports whether the question is the one that was interpreted.
func (g Given) still(i *contracts.Interrupt) bool {
	return reflect.DeepEqual(g.question.Options, i.Options) && reflect.DeepEqual(g.question.ResponseSchema, i.ResponseSchema)
}

func (g Given) gate(i *contracts.Interrupt, who Decider, now time.Time) error {
	body := g.body
	if i.ExpiresAt != nil && !now.Before(*i.ExpiresAt) {
		return contracts.Errorf(contracts.CodeConflict, "gate %s expired at %s", i.Code, i.ExpiresAt.Format(time.RFC3339))
	}
	if body.ActionSHA256 != "" && body.ActionSHA256 != i.ActionSHA256 {
		return contracts.Errorf(contracts.CodeStaleApproval, "gate %s is about another action now; look at it again", i.Code)
	}
	if body.Decision == contracts.DecisionApprove && body.ActionSHA256 == "" {
		return contracts.Errorf(contracts.CodeInvalid, "an approval must carry the action_sha256 that it was made for")
	}
	if err := who.May(*i, body.Decision); err != nil {
		return err
	}
	if body.Decision == contracts.DecisionApprove && i.DecidableAt != nil && now.Before(*i.DecidableAt) {
		return contracts.Errorf(contracts.CodeConflict, "gate %s can be approved from %s on; until then it can be rejected or edited", i.Code, i.DecidableAt.UTC().Format(time.RFC3339))
	}
	d := contracts.InterruptDecided{
		Decision: body.Decision, DecidedBy: who.ID, DecidedAt: now, Comment: body.Comment,
		EditedParams: body.EditedParams, ActionSHA256: i.ActionSHA256, Via: who.Via, KeyID: who.KeyID, From: who.From,
	}
	if who.Relation != nil {
		d.Relation = who.Relation(*i)
	}
	i.Decisions = append(i.Decisions, d)
	switch body.Decision {
	case contracts.DecisionApprove:
		if affirmed(counted(*i, who)) {
			i.Status = contracts.InterruptApproved
		}
	case contracts.DecisionReject:
		i.Status = contracts.InterruptRejected
	case contracts.DecisionEdit:
		i.Status = contracts.InterruptSuperseded
	default:
		return contracts.Errorf(contracts.CodeInvalid, "decision must be approve, reject or edit, not %q", body.Decision)
	}
	return nil
}

// affirmed reports whether a gate has enough approvals, including one by the initiator if the gate
// requires two persons.
func affirmed(i *contracts.Interrupt) bool {
	initiator := slices.ContainsFunc(i.Decisions, func(d contracts.InterruptDecided) bool {
		return d.Decision == contracts.DecisionApprove && d.Relation == contracts.RelationInitiator
	})
	return gateview.Approvals(*i) >= gateview.People(*i) && (initiator || i.Eyes() != contracts.EyesTwoPersons)
}

// counted returns the gate without revoked approvals.
func counted(i contracts.Interrupt, who Decider) *contracts.Interrupt {
	if who.IsRevoked != nil {
		i.Decisions = slices.DeleteFunc(slices.Clone(i.Decisions), who.IsRevoked)
	}
	return &i
}

func (g Given) answer(i *contracts.Interrupt, who Decider, now time.Time) error {
	body := g.body
	if body.Decision != "" && body.Decision != contracts.DecisionAnswer {
		return contracts.Errorf(contracts.CodeInvalid, "%s is a question: answer it with a response", i.Code)
	}
	if body.ActionSHA256 != "" && i.ActionSHA256 != "" && body.ActionSHA256 != i.ActionSHA256 {
		return contracts.Errorf(contracts.CodeStaleApproval, "%s is not what the answer was made for; look at it again", i.Code)
	}
	if i.ExpiresAt != nil && !now.Before(*i.ExpiresAt) {
		return contracts.Errorf(contracts.CodeConflict, "%s expired at %s; ask for it again", i.Code, i.ExpiresAt.Format(time.RFC3339))
	}
	if err := who.May(*i, contracts.DecisionAnswer); err != nil {
		return err
	}
	switch {
	case !g.still(i):
		return contracts.Errorf(contracts.CodeConflict, "%s asks for something else by now; look at it again", i.Code)
	case g.err != nil:
		return g.err
	}
	i.Status, i.Response = contracts.InterruptAnswered, g.value
	i.Decisions = append(i.Decisions, contracts.InterruptDecided{
		Decision: contracts.DecisionAnswer, DecidedBy: who.ID, DecidedAt: now, Comment: body.Comment, Via: who.Via, KeyID: who.KeyID, From: who.From,
		ActionSHA256: i.ActionSHA256,
	})
	return nil
}
