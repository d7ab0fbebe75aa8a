package execution_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func TestAnOutageLongerThanTheLeaseLosesNoOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var away atomic.Bool
		w.declare("order", unkeyed(), func(_ context.Context, c execution.Call) execution.Reply {
			away.Store(true)
			time.AfterFunc(20*time.Second, func() { away.Store(false) })
			time.Sleep(time.Second) // bubble time
			return w.apply(c)
		})
		r := w.runnerOn(&outage{Store: w.store, away: &away})
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		w.until(r, id, "completed", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeCompleted })
		if got := len(w.callsOf("order")); got != 1 {
			t.Errorf("sent %d times", got)
		}
	})
}

// outage is a store that is read-only while it is away.
type outage struct {
	execution.Store

	away *atomic.Bool
}

func (o *outage) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	if o.away.Load() {
		return execution.Committed{}, unavailable()
	}
	return o.Store.Commit(ctx, t)
}

func (o *outage) RecordOutcome(ctx context.Context, nonce string, out execution.Outcome) (bool, error) {
	if o.away.Load() {
		return false, unavailable()
	}
	return o.Store.RecordOutcome(ctx, nonce, out)
}

func (o *outage) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	if o.away.Load() {
		return nil, unavailable()
	}
	return o.Store.RenewLeases(ctx, owner, held, ttl)
}

func TestAnItemThatMustAskLetsTheOthersOfItsListGo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began, goOn := make(chan struct{}, 9), make(chan struct{})
		w.read("list", answering(map[string]any{"items": []any{"a", "b", "c"}}))
		w.read("get", func(context.Context, execution.Call) execution.Reply {
			began <- struct{}{}
			<-goOn
			return facts(nil)
		})
		each := w.node("n2", "get", map[string]any{"item": "${item}"}, "n1")
		each.ForEach = &contracts.ForEach{Items: "${steps.n1.facts.items}", MaxConcurrency: 1}
		r := w.runner()
		id := w.submit(r, w.node("n1", "list", nil), each)
		<-began
		w.mu.Lock()
		delete(w.caps, "get")
		w.rebuild()
		w.mu.Unlock()
		close(goOn)
		v := w.until(r, id, "asking for both", func(v contracts.RunView) bool { return len(v.Interrupts) == 2 })
		if time.Since(v.CreatedAt) > time.Minute {
			t.Errorf("the second item was asked for after %s", time.Since(v.CreatedAt))
		}
	})
}

func TestPersonalDataIsMaskedInSummariesAndEvents(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := keyedWrite()
		meta.ParameterSpecs = map[string]contracts.ParameterSpec{"to": {PII: true}}
		w.declare("send", meta, func(_ context.Context, c execution.Call) execution.Reply {
			r := w.apply(c)
			r.Result.Summary = "sent to ana@example.org and to bob@example.org, 491701234567"
			return r
		})
		r := w.runner()
		node := w.node("n1", "send", map[string]any{"to": []any{"ana@example.org", map[string]any{"mail": "bob@example.org", "no": 491701234567.0}}})
		node.Title = "Send to ana@example.org"
		id := w.submit(r, node)
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		v := w.ended(r, id)
		events, err := w.store.Events(t.Context(), "s1", 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{v.Nodes[0].Summary}
		for _, e := range events {
			texts = append(texts, e.Summary, e.NodeName)
		}
		for _, text := range texts {
			if strings.Contains(text, "@example.org") || strings.Contains(text, "4917") {
				t.Errorf("%q shows personal data", text)
			}
		}
	})
}
