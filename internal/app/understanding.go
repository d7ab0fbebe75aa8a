package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/reasoning"
)

// understanding lets a model be the second engine of the intent adapter.
type understanding struct{ model *reasoning.Model }

var _ intent.Engine = understanding{}

// NewUnderstanding makes an engine of a model; nil of none.
func NewUnderstanding(model *reasoning.Model) intent.Engine {
	if model == nil {
		return nil
	}
	return understanding{model}
}

// maxReading bounds the call of a model that somebody waits for.
const maxReading = 30 * time.Second

// Propose asks the model once.
func (u understanding) Propose(ctx context.Context, ask intent.Ask) ([]intent.Proposal, []contracts.ModelCall, error) {
	q := reasoning.Question{Message: ask.Message, Offered: ask.Offered}
	for _, said := range ask.Earlier {
		q.Earlier = append(q.Earlier, reasoning.Message{Role: reasoning.RoleUser, Text: contracts.CompactWords(said)})
	}
	if !ask.Now.IsZero() {
		q.Context = append(q.Context, "It is "+ask.Now.Format("Monday, ")+ask.Now.Format(time.DateOnly)+"; dates are written like that.")
	}
	// Whoever asked may have gone; what they said is read all the same, and paid for
	// once.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxReading)
	defer cancel()
	reading, err := u.model.Understand(ctx, q)
	if fault, ok := errors.AsType[*reasoning.Error](err); ok {
		err = fault // without what the vendor's library says of it
	}
	var out []intent.Proposal
	for _, p := range reading.Proposals {
		out = append(out, intent.Proposal{Entry: p.Entry, Parameters: p.Parameters})
	}
	if err == nil && len(out) == 0 && len(reading.Dropped) > 0 { // that is no word that nothing is asked for
		err = fmt.Errorf("the model gave no call that can be read: %s", reading.Dropped[0])
	}
	return out, reading.Calls, err
}
