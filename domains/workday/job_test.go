package workday_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestAChangeOfJobWaitsForItsProcess: it is submitted, and the read-back waits until Workday's
// process has ended and returns the decision.
func TestAChangeOfJobWaitsForItsProcess(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string]bool{"approved": false, "denied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{Workers: 60})
			in := b.move("Marcus Feld")
			made := b.execute("change_job", in, "run/node/1")
			if !made.OK || !strings.Contains(made.Summary, "(Marcus Feld), effective 2026-12-07: submitted, waiting for the approval in Workday") {
				t.Fatalf("%s %v", made.Summary, made.Error)
			}
			post := find(t, b.manifest(), "change_job").Metadata.Flow.Post[0]
			s := scope{"params": in, "result": object{"facts": made.Facts}}
			follow := s.params(t, post.ParamMap)
			if status, out := domaintest.Execute(t, b.url, post.Capability, follow, object{}); status != http.StatusTooManyRequests || !strings.Contains(out.Error.Message, "waits for Helena Duarte") {
				t.Fatalf("%d %+v", status, out)
			}
			want, manager := object{"state": "approved"}, "Marcus Feld"
			if denied {
				b.tenant.DenyAll("not before spring")
				want, manager = object{"state": "denied", "comment": "not before spring"}, "Helena Duarte"
			} else {
				b.approveAll()
			}
			subset(t, want, b.facts(post.Capability, follow, ""))
			subset(t, object{"manager_name": manager}, b.facts("get_worker", object{"worker": in["worker"]}, ""))
		})
	}
}

func TestWhatIsNoChangeOfJobIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{Workers: 60})
	in := b.move("Helena Duarte")
	if out := b.execute("change_job", in, "k1"); out.OK || !strings.Contains(out.Error.Message, "is in Product Engineering (Helena Duarte) already") {
		t.Errorf("%+v", out.Error)
	}
	in = b.move("Marcus Feld")
	in["reason"] = strings.Repeat("0", 32)
	if out := b.execute("change_job", in, "k2"); out.OK || out.Error.Type != contracts.ErrPrecondition || !strings.Contains(out.Error.Message, "reason") {
		t.Errorf("%+v", out.Error)
	}
	if got := b.effects(); len(got) != 0 {
		t.Errorf("written: %v", got)
	}
}

// TestAChangeOfJobIsThoughtThroughBeforeItsGate by the look-up that the gate shows. If the worker
// was moved since, nothing is submitted.
func TestAChangeOfJobIsThoughtThroughBeforeItsGate(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{Workers: 60})
	in := b.move("Marcus Feld")
	value, label := planned(t, b.facts("plan_job_change", in, ""))
	if !strings.HasPrefix(label, "from Product Engineering (Helena Duarte) to ") || !strings.Contains(label, "on Mon 7 Dec 2026, for the reason ") {
		t.Errorf("it is shown as %q", label)
	}
	with := func(name string, value any) object {
		other := maps.Clone(in)
		other[name] = value
		return other
	}
	for want, wrong := range map[string]object{
		"is in Product Engineering":    b.move("Helena Duarte"),
		"no such reason":               with("reason", strings.Repeat("0", 32)),
		"no organization":              with("organization", strings.Repeat("0", 32)),
		"more than two years away":     with("effective", "2062-12-07"),
		"nobody reports to themselves": with("worker", b.id("Marcus Feld")),
	} {
		if out := b.execute("plan_job_change", wrong, ""); out.OK || !strings.Contains(out.Error.Message, want) {
			t.Errorf("%s: %s %+v", want, out.Summary, out.Error)
		}
	}
	if out := b.execute("change_job", with("plan", "from:elsewhere"), "k1"); out.OK || out.Error.Type != "domain.plan_changed" {
		t.Errorf("moved meanwhile: %+v", out.Error)
	}
	if got := b.effects(); len(got) != 0 {
		t.Errorf("written: %v", got)
	}
	if out := b.execute("change_job", with("plan", value), "k2"); !out.OK {
		t.Fatal(out.Error)
	}
	if out := b.execute("plan_job_change", in, ""); out.OK || !strings.Contains(out.Error.Message, "on 2026-12-07 waits in Workday already") {
		t.Errorf("a second one: %s %+v", out.Summary, out.Error)
	}
}
