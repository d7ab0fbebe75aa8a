package workday_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// write is one write with its expected effect in the tenant.
type write struct {
	capability string
	suffix     string // of the request path
	parameters func(b *bench) object
	prepare    func(b *bench)
	effects    []string
	// process is the business process that may need an approval, or "" for a write that takes
	// effect at once in every tenant.
	process sandbox.Process
	// unmarked means that the domain does not recognize the write after losing its keys: the core
	// looks it up before a retry.
	unmarked bool
}

// longDays are twenty working days, which cause a warning.
const longDays = "days:2026-12-07,2026-12-08,2026-12-09,2026-12-10,2026-12-11,2026-12-14,2026-12-15,2026-12-16,2026-12-17,2026-12-18," +
	"2026-12-21,2026-12-22,2026-12-23,2026-12-24,2026-12-28,2026-12-29,2026-12-30,2026-12-31,2027-01-04,2027-01-05"

// writes returns all writes of the domain, with every request that leads to each.
func writes() map[string]write {
	ana := func(extra object) func(b *bench) object {
		return func(b *bench) object {
			out := object{"worker": b.id("Ana Souza")}
			maps.Copy(out, extra)
			return out
		}
	}
	none := func(*bench) {}
	taken := func(b *bench) {
		b.facts("request_time_off", object{"worker": b.id("Ana Souza"), "days": 2, "start": "2026-12-07"}, "before")
	}
	approved := func(b *bench) { taken(b); b.approveAll() }
	scattered := func(b *bench) {
		b.facts("request_time_off", object{"worker": b.id("Ana Souza"), "days": 2, "start": "2026-12-10", "dates": []string{"2026-12-10", "2026-12-17"}}, "before")
	}
	titled := func(b *bench) {
		b.facts("change_business_title", object{"worker": b.id("Ana Souza"), "title": "Chief Gardener"}, "before")
		b.tenant.ApproveAll() // in a tenant that requires an approval
	}
	// asked is a request of Ana that awaits her manager, who is logged in and is the requester.
	asked := func(b *bench) {
		taken(b)
		b.withLogins()
		b.logIn("Helena Duarte")
		b.asker = b.people["Helena Duarte"].EmployeeID
	}
	step := func(extra object) func(b *bench) object {
		return func(b *bench) object {
			out := object{"worker": b.id("Ana Souza"), "task": column(b.facts("list_inbox_tasks", object{"worker": b.id("Ana Souza")}, "")["tasks"], "value")[0]}
			maps.Copy(out, extra)
			return out
		}
	}
	return map[string]write{
		"an approval": {
			capability: "approve_step", suffix: "/approve", parameters: step(nil), prepare: asked,
			effects: []string{"time_off_requested x1", "step_approved x1"},
		},
		"a denial": {
			capability: "deny_step", suffix: "/deny", parameters: step(object{"comment": "not that week"}), prepare: asked,
			effects: []string{"time_off_requested x1", "step_denied x1"},
		},
		"a request that is sent back": {
			capability: "send_back_step", suffix: "/sendBack", parameters: step(object{"comment": "one day less"}), prepare: asked,
			effects: []string{"time_off_requested x1", "step_sent_back x1"},
		},
		"a request": {
			capability: "request_time_off", suffix: "/requestTimeOff", process: sandbox.RequestTimeOff,
			parameters: ana(object{"days": 2, "start": "2026-12-07"}), prepare: none,
			effects: []string{"time_off_requested x1"},
		},
		"a request of single days": {
			capability: "request_time_off", suffix: "/requestTimeOff", process: sandbox.RequestTimeOff,
			parameters: ana(object{"days": 2, "start": "2026-12-10", "dates": []string{"2026-12-10", "2026-12-17"}}), prepare: none,
			effects: []string{"time_off_requested x1"},
		},
		"a request whose warning is accepted": {
			capability: "request_time_off", suffix: "/requestTimeOff", process: sandbox.RequestTimeOff,
			parameters: ana(object{"days": 20, "start": "2026-12-07", "absence_type": "unpaid", "plan": longDays + ";accepting A1040"}), prepare: none,
			effects: []string{"time_off_requested x1"},
		},
		"a cancelled request": {
			capability: "cancel_time_off", suffix: "/cancel", unmarked: true,
			parameters: ana(object{"from": "2026-12-08"}), prepare: taken,
			effects: []string{"time_off_requested x1", "event_cancelled x1"},
		},
		"a cancelled request of single days": {
			capability: "cancel_time_off", suffix: "/cancel", unmarked: true,
			parameters: ana(object{"from": "2026-12-10"}), prepare: scattered,
			effects: []string{"time_off_requested x1", "event_cancelled x1"},
		},
		"single days that are deleted": {
			capability: "cancel_time_off", suffix: "/correctTimeOffEntry", process: sandbox.CorrectTimeOff, unmarked: true,
			parameters: ana(object{"from": "2026-12-10"}), prepare: func(b *bench) { scattered(b); b.approveAll() },
			effects: []string{"time_off_requested x1", "step_approved x1", "time_off_corrected x1"},
		},
		"cancelled days that come back": {
			capability: "restore_time_off", suffix: "/requestTimeOff", process: sandbox.RequestTimeOff,
			parameters: ana(object{"days": 1.5, "dates": []string{"2026-12-17", "2026-12-10"}, "absence_type": "vacation"}), prepare: none,
			effects: []string{"time_off_requested x1"},
		},
		"deleted days": {
			capability: "cancel_time_off", suffix: "/correctTimeOffEntry", process: sandbox.CorrectTimeOff, unmarked: true,
			parameters: ana(object{"from": "2026-12-08"}), prepare: approved,
			effects: []string{"time_off_requested x1", "step_approved x1", "time_off_corrected x1"},
		},
		"a title": {
			capability: "change_business_title", suffix: "/businessTitleChanges", process: sandbox.ChangeBusinessTitle, unmarked: true,
			parameters: ana(object{"title": "Chief Gardener"}), prepare: none,
			effects: []string{"business_title_changed x1"},
		},
		"a change of job": {
			capability: "change_job", suffix: "/jobChanges", process: sandbox.ChangeJob, unmarked: true,
			parameters: func(b *bench) object { return b.move("Marcus Feld") }, prepare: none,
			effects: []string{"job_changed x1"},
		},
		"a title that comes back": {
			capability: "restore_business_title", suffix: "/businessTitleChanges", process: sandbox.ChangeBusinessTitle, unmarked: true,
			parameters: func(b *bench) object {
				return object{"worker": b.id("Ana Souza"), "title": b.people["Ana Souza"].Title}
			},
			prepare: titled, effects: []string{"business_title_changed x1", "business_title_changed x1"},
		},
	}
}

// TestNoWriteIsMissing: the table above covers every write.
func TestNoWriteIsMissing(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, w := range writes() {
		known[w.capability] = true
	}
	for _, c := range setup(t, sandbox.Config{}).manifest().Capabilities {
		if c.Metadata.SideEffectClass.Writes() && !known[c.Name] {
			t.Errorf("%s writes and is not among the writes that are tried", c.Name)
		}
	}
}

// TestWritesHappenOnceWhateverBreaks retries each write with its key until it succeeds, as the core
// does, and reads the tenant's effects.
func TestWritesHappenOnceWhateverBreaks(t *testing.T) {
	t.Parallel()
	faults := map[string]sandboxkit.Fault{
		"nothing":                          {},
		"busy":                             {Kind: sandboxkit.TooManyRequests, RetryAfter: "60"},
		"busy for a moment":                {Kind: sandboxkit.TooManyRequests, Count: 2},
		"unavailable before":               {Kind: sandboxkit.Unavailable},
		"unavailable after":                {Kind: sandboxkit.UnavailableAfter},
		"cut before":                       {Kind: sandboxkit.ResetBefore},
		"cut after":                        {Kind: sandboxkit.ResetAfter},
		"half an answer":                   {Kind: sandboxkit.HalfAnswer},
		"a page to sign in":                {Kind: sandboxkit.HTMLAnswer},
		"a token that expired on the way":  {Kind: sandboxkit.Unauthorized},
		"unavailable before three times":   {Kind: sandboxkit.Unavailable, Count: 3},
		"lost once, then before the write": {Kind: sandboxkit.ResetBefore, Count: 2},
	}
	for what, w := range writes() {
		for how, fault := range faults {
			for _, forgetful := range []bool{false, true} {
				if forgetful && !strings.HasPrefix(how, "cut") {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/forgetful=%v", what, how, forgetful), func(t *testing.T) {
					t.Parallel()
					b := setup(t, sandbox.Config{Workers: 60})
					w.prepare(b)
					if fault.Kind != "" {
						fault := fault
						fault.PathSuffix, fault.Method = w.suffix, "POST"
						b.tenant.Inject(fault)
					}
					b.untilDone(w, forgetful)
					if diff := cmp.Diff(w.effects, b.effects()); diff != "" {
						t.Errorf("effects (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// untilDone retries a write with one key; with forgetful, each attempt is a new process.
func (b *bench) untilDone(w write, forgetful bool) {
	b.Helper()
	parameters := w.parameters(b)
	for range 6 {
		out := b.execute(w.capability, parameters, "run/node/1")
		if out.OK {
			if again := b.execute(w.capability, parameters, "run/node/1"); !again.OK && !forgetful {
				b.Errorf("a repeat was refused: %v", again.Error)
			}
			return
		}
		if !out.Error.Retryable {
			b.Fatalf("not to be repeated: %v", out.Error)
		}
		if forgetful {
			if w.unmarked && b.found(w.capability, parameters)["applied"] == true {
				return // the core looks it up before a retry
			}
			b.restart()
		}
	}
	b.Fatal("it never succeeded")
}

// move are the parameters for moving Ana to the organization of a manager.
func (b *bench) move(leader string) object {
	b.Helper()
	to := column(b.facts("list_organizations", object{"search": leader}, "")["organizations"], "value")
	why := column(b.facts("list_job_change_reasons", object{"search": "lateral"}, "")["reasons"], "value")
	if len(to) != 1 || len(why) != 1 {
		b.Fatalf("%v %v", to, why)
	}
	return object{"worker": b.id("Ana Souza"), "organization": to[0], "reason": why[0], "effective": "2026-12-07"}
}

// found looks a write up, as the core does after a lost answer.
func (b *bench) found(capability string, parameters object) object {
	b.Helper()
	asked := object{"write": parameters, "key": "run/node/1"}
	if strings.Contains(capability, "title") || capability == "change_job" { // has no marker
		delete(asked, "key")
	}
	return b.facts("find_"+capability, asked, "")
}

// approveAll approves all open steps, as the managers.
func (b *bench) approveAll() {
	b.Helper()
	if n := b.tenant.ApproveAll(); n == 0 {
		b.Fatal("nothing waited for an approval")
	}
}

// TestTwoServersShareARotatingRefreshToken: each use invalidates the token, and all access tokens
// expire repeatedly while both servers are busy, one of them with a write.
func TestTwoServersShareARotatingRefreshToken(t *testing.T) {
	t.Parallel()
	for name, w := range writes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{Workers: 60})
			path, first := filepath.Join(t.TempDir(), "token.json"), b.tenant.Credentials().RefreshToken
			servers := make([]*bench, 2)
			for i := range servers {
				one := *b
				one.config.Tenant.Tokens = workday.FileTokens(path, first)
				one.restart()
				servers[i] = &one
			}
			w.prepare(servers[0])
			if servers[1].asker = servers[0].asker; servers[0].config.Logins != nil {
				servers[1].openLogins(servers[0].login)
			}
			parameters := w.parameters(servers[0])
			for range 4 {
				b.tenant.ExpireTokens()
				var group sync.WaitGroup
				for _, one := range servers {
					group.Go(func() {
						if out := one.execute("get_worker", object{"worker": b.id("Ana Souza")}, ""); !out.OK {
							t.Errorf("a read: %v", out.Error)
						}
					})
				}
				group.Go(func() {
					if out := servers[1].execute(w.capability, parameters, "run/node/1"); !out.OK {
						t.Errorf("the write: %v", out.Error)
					}
				})
				group.Wait()
			}
			if diff := cmp.Diff(w.effects, b.effects()); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAWriteMayWaitForDays: a write that needs an approval is submitted but not done; it is
// followed over time, and ends with the decision.
func TestAWriteMayWaitForDays(t *testing.T) {
	t.Parallel()
	for name, w := range writes() {
		for _, denied := range []bool{false, true} {
			if w.process == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/denied=%v", name, denied), func(t *testing.T) {
				t.Parallel()
				b := setup(t, sandbox.Config{Workers: 60, NeedsApproval: []sandbox.Process{sandbox.RequestTimeOff, sandbox.CorrectTimeOff, sandbox.ChangeBusinessTitle, sandbox.ChangeJob}})
				w.prepare(b)
				parameters := w.parameters(b)
				before := b.state()
				made := b.execute(w.capability, parameters, "run/node/1")
				if !made.OK || !strings.Contains(made.Summary, "submitted, waiting for the approval in Workday") {
					t.Fatalf("%s %v", made.Summary, made.Error)
				}
				follow := object{"worker": b.id("Ana Souza"), "about": string(w.process)}
				for range 5 {
					b.tenant.AdvanceClock(24 * time.Hour)
					if status, out := domaintest.Execute(t, b.url, "follow_request", follow, object{}); status != http.StatusTooManyRequests {
						t.Fatalf("it does not wait: %d %+v", status, out)
					}
					subset(t, object{"applied": true}, b.found(w.capability, parameters))
				}
				b.decided(w, follow, denied)
				if changed := !cmp.Equal(before, b.state()); changed == denied {
					t.Errorf("denied %v, and what it changes is %v, was %v", denied, b.state(), before)
				}
			})
		}
	}
}

// decided lets the manager decide, and checks the reported outcome.
func (b *bench) decided(w write, follow object, denied bool) {
	b.Helper()
	want := object{"state": "approved"}
	if denied {
		b.tenant.DenyAll("not this month")
		want = object{"state": "denied", "comment": "not this month"}
	} else {
		b.approveAll()
	}
	subset(b.T, want, b.facts("follow_request", follow, ""))
	found := b.found(w.capability, w.parameters(b))
	switch {
	case !denied:
		subset(b.T, object{"applied": true}, found)
	case w.process == sandbox.ChangeBusinessTitle || w.process == sandbox.ChangeJob: // it has no marker: this write or another
		subset(b.T, object{"applied": nil}, found)
	default:
		subset(b.T, object{"applied": true, "status": "denied"}, found)
	}
}
