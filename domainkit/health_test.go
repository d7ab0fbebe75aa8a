package domainkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

func checked(t *testing.T, checks map[string]domainkit.Check) *caller {
	t.Helper()
	return quotes(t, plainQuote, func(c *domainkit.Config) { c.Checks = checks })
}

func (c *caller) health() contracts.Health {
	c.t.Helper()
	var out contracts.Health
	if err := json.Unmarshal([]byte(c.do("GET", "/health", "").want(c.t, 200).Body), &out); err != nil {
		c.t.Fatal(err)
	}
	return out
}

func TestHealth(t *testing.T) {
	t.Parallel()
	fine := domainkit.Check{Run: func(context.Context) error { return nil }}
	broken := domainkit.Check{Run: func(context.Context) error { return errors.New("no\nroute") }}
	optional := domainkit.Check{Run: broken.Run, Optional: true}
	panics := domainkit.Check{Run: func(context.Context) error { crash(); return nil }}
	ok := contracts.HealthCheck{Status: contracts.HealthOK}
	tests := map[string]struct {
		checks map[string]domainkit.Check
		want   contracts.Health
	}{
		"without checks it is ok": {nil, contracts.Health{Status: contracts.HealthOK}},
		"a check that fails means down": {map[string]domainkit.Check{"a": fine, "b": broken, "c": optional}, contracts.Health{
			Status: contracts.HealthDown, Checks: map[string]contracts.HealthCheck{
				"a": ok, "b": {Status: contracts.HealthDown, Detail: "no route"}, "c": {Status: contracts.HealthDegraded, Detail: "no route"},
			},
		}},
		"an optional check that fails means degraded": {map[string]domainkit.Check{"a": fine, "c": optional}, contracts.Health{
			Status: contracts.HealthDegraded, Checks: map[string]contracts.HealthCheck{"a": ok, "c": {Status: contracts.HealthDegraded, Detail: "no route"}},
		}},
		"a check that panics has failed": {map[string]domainkit.Check{"a": panics}, contracts.Health{
			Status: contracts.HealthDown, Checks: map[string]contracts.HealthCheck{"a": {Status: contracts.HealthDown, Detail: "panic: runtime error: index out of range [0] with length 0"}},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.want.Version = "1.2.3"
			if diff := cmp.Diff(tt.want, checked(t, tt.checks).health()); diff != "" {
				t.Errorf("health (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHangingCheckDoesNotPileUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int64
		release := make(chan struct{})
		c := checked(t, map[string]domainkit.Check{"db": {Timeout: time.Second, Run: func(context.Context) error {
			running.Add(1)
			<-release // ignores its context
			return nil
		}}})
		for range 3 {
			begin := time.Now()
			if got := c.health(); got.Status != contracts.HealthDown || time.Since(begin) != time.Second {
				t.Errorf("health %s after %s, want down after 1 s", got.Status, time.Since(begin))
			}
		}
		if running.Load() != 1 {
			t.Errorf("the check runs %d times at once", running.Load())
		}
		close(release)
		synctest.Wait()
		if got := c.health(); got.Status != contracts.HealthOK {
			t.Errorf("health %s after the check recovered", got.Status)
		}
	})
}
