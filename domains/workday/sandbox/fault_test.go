package sandbox_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func TestFaultsShowAndCommitAsTheySay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault     sandboxkit.Fault
		status    int // 0: no answer
		committed bool
	}{
		"busy before the write":           {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, RetryAfter: "7"}, 429, false},
		"unavailable before the write":    {sandboxkit.Fault{Kind: sandboxkit.Unavailable}, 503, false},
		"unavailable after the write":     {sandboxkit.Fault{Kind: sandboxkit.UnavailableAfter}, 503, true},
		"broken before the write":         {sandboxkit.Fault{Kind: sandboxkit.ServerError}, 500, false},
		"a gateway's page":                {sandboxkit.Fault{Kind: sandboxkit.BadGateway}, 502, false},
		"refused as unknown":              {sandboxkit.Fault{Kind: sandboxkit.Unauthorized}, 401, false},
		"refused as not allowed":          {sandboxkit.Fault{Kind: sandboxkit.Forbidden}, 403, false},
		"cut before the write":            {sandboxkit.Fault{Kind: sandboxkit.ResetBefore}, 0, false},
		"cut after the write":             {sandboxkit.Fault{Kind: sandboxkit.ResetAfter}, 0, true},
		"hanging before the write":        {sandboxkit.Fault{Kind: sandboxkit.Slow}, 0, false},
		"hanging after the write":         {sandboxkit.Fault{Kind: sandboxkit.SlowAfter}, 0, true},
		"half an answer after the write":  {sandboxkit.Fault{Kind: sandboxkit.HalfAnswer}, 0, true},
		"a sign-in page after the write":  {sandboxkit.Fault{Kind: sandboxkit.HTMLAnswer}, 200, true},
		"a little late but well":          {sandboxkit.Fault{Kind: sandboxkit.Slow, DelayMS: 1}, 201, true},
		"a rule for another kind of call": {sandboxkit.Fault{Kind: sandboxkit.ServerError, Method: http.MethodGet}, 201, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			tt.fault.PathSuffix = "/businessTitleChanges"
			b.tenant.Inject(tt.fault)
			ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
			defer cancel()
			done := make(chan int, 1)
			go func() { done <- b.tryTitle(ctx) }()
			if tt.fault.DelayMS == 0 && strings.HasPrefix(string(tt.fault.Kind), "slow") {
				waitFor(t, b.tenant.Fired)
				cancel() // the client disconnects
			}
			status := <-done
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			waitFor(t, func() bool { return len(b.tenant.Requests()) == 2 })
			if got := len(b.tenant.Effects()) == 1; got != tt.committed {
				t.Errorf("committed: %v, want %v", got, tt.committed)
			}
		})
	}
}

func (b *bench) tryTitle(ctx context.Context) int {
	b.Helper()
	res, err := b.send(ctx, http.MethodPost, common+"/workers/Employee_ID=21048/businessTitleChanges",
		object{"proposedBusinessTitle": "Chief Gardener"})
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatal("it did not happen in time")
		case <-tick.C:
		}
	}
}

func TestRulesFireFromTheNthAndAsOftenAsTold(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault sandboxkit.Fault
		want  []int
	}{
		"once, unless told otherwise": {sandboxkit.Fault{}, []int{500, 200, 200, 200, 200}},
		"from the third on, twice":    {sandboxkit.Fault{Nth: 3, Count: 2}, []int{200, 200, 500, 500, 200}},
		"always":                      {sandboxkit.Fault{Count: -1}, []int{500, 500, 500, 500, 500}},
		"by the seed's dice":          {sandboxkit.Fault{Count: -1, Probability: 0.5}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.fault.Kind, tt.fault.PathPrefix = sandboxkit.ServerError, "/ccx/api/"
			statuses := func() []int {
				b := setup(t, sandbox.Config{})
				b.tenant.Inject(tt.fault)
				var got []int
				for range 5 {
					status, _ := b.call(http.MethodGet, common+"/workers", nil)
					got = append(got, status)
				}
				return got
			}
			got := statuses()
			if tt.want == nil {
				tt.want = statuses() // the same random numbers again
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTenantLimitsItsClients(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{RequestsPerSecond: 1, Burst: 2}) // the clock does not advance; the login used one request
	if status, _ := b.call(http.MethodGet, common+"/workers", nil); status != http.StatusOK {
		t.Fatalf("within the burst: %d", status)
	}
	if status, _ := b.call(http.MethodGet, common+"/workers", nil); status != http.StatusTooManyRequests {
		t.Errorf("above the burst: %d", status)
	}
	b.tenant.AdvanceClock(time.Second)
	if status, _ := b.call(http.MethodGet, common+"/workers", nil); status != http.StatusOK {
		t.Errorf("a second later: %d", status)
	}
}

func TestTheAdminFaceDrivesTheTenant(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	if status, out := b.call(http.MethodPost, "/__sandbox/faults", sandboxkit.Fault{Kind: sandboxkit.Forbidden, PathPrefix: common}); status != http.StatusOK {
		t.Fatalf("inject: %d %v", status, out)
	}
	if status, _ := b.call(http.MethodGet, common+"/workers", nil); status != http.StatusForbidden {
		t.Errorf("after the rule: %d", status)
	}
	if got := b.get("/__sandbox/credentials")["tenant"]; got != tenantName {
		t.Errorf("credentials of %v", got)
	}
	if status, _ := b.call(http.MethodPost, "/__sandbox/expire-tokens", nil); status != http.StatusOK {
		t.Errorf("expire: %d", status)
	}
	if status, _ := b.call(http.MethodGet, common+"/workers", nil); status != http.StatusUnauthorized {
		t.Errorf("with an expired token: %d", status)
	}
	if status, out := b.call(http.MethodPost, "/__sandbox/approve", nil); status != http.StatusOK || out["approved"] != 0.0 {
		t.Errorf("approve: %d %v", status, out)
	}
	if status, _ := b.call(http.MethodPost, "/__sandbox/clock?advance=soon", nil); status != http.StatusBadRequest {
		t.Errorf("a clock of soon: %d", status)
	}
}
