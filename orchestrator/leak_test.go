package orchestrator_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/execution"
)

// brokenStore fails to find a gate, with an internal error text.
type brokenStore struct{ execution.Store }

func (brokenStore) InterruptAt(context.Context, string) (execution.InterruptAt, error) {
	return execution.InterruptAt{}, errors.New("read interrupt: disk I/O error at /var/secret/path")
}

func TestAFaultOfOursIsNoReplyToADecision(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	broken := o.on(brokenStore{o.store})
	in := inChat("c1", "m1", "approve 7K3Q2")
	in.Thread.Continued = false
	state, err := chatOf(t.Context(), broken.Conversation, bob, in)
	if err != nil || strings.Contains(state.Notice, "secret") || !strings.Contains(state.Notice, "7K3Q2: something went wrong") {
		t.Errorf("the chat is told %q, %v", state.Notice, err)
	}
}
