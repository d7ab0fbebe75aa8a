package intent

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Engine reads messages besides the local matcher, such as a model. It only
// proposes: what it says passes the same judgement as the local reading (restraint,
// the account of every word, schemas, the gates), and can be no more sure of itself
// than that allows.
type Engine interface {
	// Propose gives the requests of a message in its order. An error means that
	// there is none to be had just now; the local reading stands then. What the
	// calls cost is given in both cases.
	Propose(ctx context.Context, ask Ask) ([]Proposal, []contracts.ModelCall, error)
}

// Ask is a message for an engine.
type Ask struct {
	Message string
	// Offered are the capabilities to choose among, best first, at most MostOffered.
	Offered []*contracts.CapabilityEntry
	// Earlier are the messages of the person before, oldest first.
	Earlier []string
	// Now is when the message was said, in the asker's zone; zero where unknown.
	Now time.Time
}

// MostOffered is the length of the shortlist that an engine chooses from.
const MostOffered = 20

// Proposal is one request as an engine reads it.
type Proposal struct {
	Entry      *contracts.CapabilityEntry
	Parameters map[string]any
}

// EngineMode says when an engine is asked.
type EngineMode string

// The modes.
const (
	// EngineNever leaves everything to the local matcher.
	EngineNever EngineMode = "local"
	// EngineAssists asks the engine when the local reading is unsure, leaves binding
	// words or required values open, or leans on earlier messages.
	EngineAssists EngineMode = "assist"
	// EngineAlways asks the engine about every message.
	EngineAlways EngineMode = "model"
)

// EngineModes lists the modes, for flags and their help.
func EngineModes() []EngineMode { return []EngineMode{EngineNever, EngineAssists, EngineAlways} }

// sourceModel names an engine in intents.
const sourceModel = "model"

// HasEngine tells whether an engine is asked about messages.
func (a *Adapter) HasEngine() bool { return a.cfg.Engine != nil && a.cfg.EngineMode != EngineNever }

// second asks the engine about a message where its mode says so. It gives nothing
// where the local reading stands, and what was spent in any case.
func (a *Adapter) second(ctx context.Context, q Query, u Understanding, local []Clause) (better []Clause, spent []contracts.ModelCall, err error) {
	if !a.HasEngine() || q.Local || !a.worthAsking(u, local) {
		return nil, nil, nil
	}
	ranked, err := a.local.Shortlist(ctx, q, MostOffered)
	if err != nil || len(ranked) == 0 {
		return nil, nil, err
	}
	ask := Ask{Message: q.Message, Earlier: q.Earlier, Now: q.Now}
	for _, r := range ranked {
		ask.Offered = append(ask.Offered, r.Entry)
	}
	proposals, spent, err := a.cfg.Engine.Propose(ctx, ask)
	if err != nil {
		return nil, spent, err
	}
	if len(proposals) == 0 {
		return doubted(local), spent, nil
	}
	return a.local.adopt(ctx, q, len(ask.Offered), proposals), spent, nil
}

// worthAsking tells whether an engine could do better than the local reading. What
// says plainly that nothing is to be done needs none.
func (a *Adapter) worthAsking(u Understanding, local []Clause) bool {
	if len(local) == 0 || allRejected(local) {
		return false
	}
	return a.cfg.EngineMode == EngineAlways || !u.settled(local)
}

func allRejected(clauses []Clause) bool {
	for _, c := range clauses {
		if !c.Rejected {
			return false
		}
	}
	return true
}

// settled tells of an accepted reading that leaves nothing open: every value is
// there, every word of weight has its use, and each request was said in the words
// that its capability is asked for with.
func (u Understanding) settled(local []Clause) bool {
	if u.Outcome != contracts.GateAccept || len(u.Unused) > 0 {
		return false
	}
	for _, c := range local {
		if c.Rejected || len(c.Candidates) == 0 {
			continue
		}
		best := c.Candidates[0]
		if best.Exact && len(best.Missing) == 0 {
			continue
		}
		unread := len(best.Said.Unread(contracts.WordBinding)) + len(best.Said.Unread(contracts.WordBeside))
		if len(best.Missing) > 0 || unread > 0 || best.Confidence < settledConfidence || !best.firm() {
			return false
		}
	}
	return true
}

// doubted is a reading of which an engine says that nothing of it is asked for: it
// stands, but what is not said word for word as its capability is asked for is asked
// about. Two who read the same and differ about whether anything is wanted are no
// ground to do it.
func doubted(local []Clause) []Clause {
	out := slices.Clone(local)
	for i, c := range out {
		if len(c.Candidates) > 0 && !c.Candidates[0].Exact && c.Candidates[0].Confidence >= DefaultClarify {
			out[i].Candidates = slices.Clone(c.Candidates)
			best := &out[i].Candidates[0]
			best.Held, best.Note, best.Confidence = true, "the model finds nothing in it that is asked for", min(best.Confidence, DefaultAccept-0.01)
		}
	}
	return out
}

const (
	// settledConfidence is the confidence of a local reading from which no engine is
	// asked.
	settledConfidence = 0.9
	// firmValue is how probable each value of such a reading must be.
	firmValue = 0.9
)

// firm tells that each value was read without doubt.
func (c Candidate) firm() bool {
	for name := range c.Parameters {
		if c.Evidence[name].P < firmValue {
			return false
		}
	}
	return true
}
