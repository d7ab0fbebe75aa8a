package runs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator/runs"
)

// listener records the request, and returns that nothing is left to do.
type listener struct{ heard intent.Request }

func (l *listener) Understand(_ context.Context, req intent.Request) (intent.Understanding, error) {
	l.heard = req
	return intent.Understanding{Outcome: contracts.ReadingAccepted, Reply: "done"}, nil
}

type shelf struct{ catalog *contracts.Catalog }

func (s shelf) Catalog() *contracts.Catalog { return s.catalog }

func (shelf) Health() map[string]contracts.HealthStatus { return nil }

// The goal of a run is shortened; a round gets the full text of the request.
func TestARoundIsToldTheWholeRequest(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("Look into each folder, and then ", 30) + "write to Ana."
	said := &contracts.Utterance{Text: whole}
	for name, c := range map[string]struct {
		nodes []contracts.Node
		want  string
	}{
		"in the asker's words": {[]contracts.Node{{NodeID: "n1", Utterance: said}, {NodeID: "n2", Utterance: said}, {NodeID: "n3"}}, whole},
		"by its goal":          {[]contracts.Node{{NodeID: "n1"}}, "the goal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &listener{}
			r := runs.NewRounds(l, shelf{contracts.NewCatalog("s", nil, nil)}, time.Now)
			reply, err := r.Replan(t.Context(), execution.ReplanRequest{Goal: "the goal", Plan: contracts.Plan{Nodes: c.nodes}})
			if err != nil || reply.Plan != nil || l.heard.Message != c.want {
				t.Errorf("%v %v %q", err, reply.Plan, l.heard.Message)
			}
		})
	}
}
