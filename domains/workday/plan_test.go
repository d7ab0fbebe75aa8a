package workday_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// planned returns the only plan in the facts.
func planned(t *testing.T, facts object) (value, label string) {
	t.Helper()
	values, labels := column(facts["matches"], "value"), column(facts["matches"], "label")
	if len(values) != 1 {
		t.Fatalf("%d plans: %v", len(values), facts)
	}
	return values[0], labels[0]
}

// TestARequestIsThoughtThroughBeforeItsGate: the plan shows the days and the remaining balance;
// exceeding the balance is a warning.
func TestARequestIsThoughtThroughBeforeItsGate(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	ana := b.id("Ana Souza")
	tests := map[string]struct {
		wish  object
		value string
		says  []string
	}{
		"days from a first day on": {
			object{"days": 3, "start": "2026-12-10"},
			"days:2026-12-10,2026-12-11,2026-12-14",
			[]string{"3 days of Vacation: Thu 10 Dec 2026, Fri 11 Dec 2026, Mon 14 Dec 2026", "16 days left, 13 days after it"},
		},
		"single days": {
			object{"days": 2, "start": "2026-12-10", "dates": []string{"2026-12-17", "2026-12-10"}}, "days:2026-12-10,2026-12-17", []string{"Thu 10 Dec 2026, Thu 17 Dec 2026"},
		},
		"half a day": {
			object{"start": "2026-12-10", "days": 0.5}, "days:2026-12-10=0.5", []string{"0.5 days of Vacation"},
		},
		"a holiday within": {
			object{"days": 3, "start": "2026-12-23"}, "days:2026-12-23,2026-12-24,2026-12-28", []string{"Mon 28 Dec 2026"},
		},
		"more than is left": {
			object{"days": 20, "start": "2026-12-07"}, "", []string{"from Mon 7 Dec 2026 to Tue 5 Jan 2027", "4 days more than the 16 days that are left"},
		},
		"sickness that is over": {
			object{"days": 1, "start": "2026-10-30", "absence_type": "sick"}, "days:2026-10-30", []string{"8 hours", "it lies in the past"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.wish["worker"] = ana
			value, label := planned(t, b.facts("plan_time_off", tt.wish, ""))
			if tt.value != "" && value != tt.value {
				t.Errorf("it comes to %s", value)
			}
			for _, want := range tt.says {
				if !strings.Contains(label, want) {
					t.Errorf("%q does not say %q", label, want)
				}
			}
			if got := len(b.effects()); got != 0 {
				t.Errorf("%d effects", got)
			}
		})
	}
}

// TestWhatCannotBeIsSaidBeforeTheGate: an impossible request is refused with the reason.
func TestWhatCannotBeIsSaidBeforeTheGate(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	tests := map[string]struct {
		wish object
		says string
	}{
		"400 days":                    {object{"days": 400, "start": "2026-12-07"}, "400 working days are more than the 60 of one request"},
		"a start in the past":         {object{"days": 1, "start": "2026-10-30"}, "2026-10-30 is in the past"},
		"sickness of long ago":        {object{"days": 1, "start": "2026-09-01", "absence_type": "sick"}, "at most 31 days back"},
		"a holiday":                   {object{"days": 1, "start": "2026-12-25"}, "Fri 25 Dec 2026, 2026-12-25, is not a working day of Ana Souza"},
		"a weekend among single days": {object{"days": 2, "start": "2026-12-11", "dates": []string{"2026-12-11", "2026-12-12"}}, "Sat 12 Dec 2026"},
		"more days than dates":        {object{"dates": []string{"2026-12-10", "2026-12-11"}, "start": "2026-12-10", "days": 3}, "2 dates were named, and 3 days asked for"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.wish["worker"] = b.id("Ana Souza")
			out := b.execute("plan_time_off", tt.wish, "")
			if out.OK || out.Error.Retryable || !strings.Contains(out.Error.Message, tt.says) {
				t.Errorf("%s %v", out.Summary, out.Error)
			}
		})
	}
}

// TestOnlyTheDaysThatWereShownAreSubmitted: only the approved days are sent; other days are planned
// and shown again.
func TestOnlyTheDaysThatWereShownAreSubmitted(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	wish := object{"worker": b.id("Ana Souza"), "days": 2, "start": "2026-12-10"}
	wish["plan"], _ = planned(t, b.facts("plan_time_off", wish, ""))
	wish["days"] = 3
	out := b.execute("request_time_off", wish, "changed")
	if out.OK || out.Error.Type != "domain.plan_changed" || out.Error.EffectOf() != contracts.EffectNone {
		t.Fatalf("%v", out.Error)
	}
	wish["days"] = 2
	subset(t, object{"first_day": "2026-12-10", "last_day": "2026-12-11"}, b.facts("request_time_off", wish, "key"))
	stale := find(t, b.manifest(), "request_time_off").Metadata.Flow.StaleOn
	if diff := cmp.Diff([]string{"domain.plan_changed", "domain.workday_warns"}, stale); diff != "" {
		t.Error(diff)
	}
}

// TestAWarningOfWorkdayIsApproved: a request of which Workday warns is not made. It is shown again
// with the warning, and made once that is approved.
func TestAWarningOfWorkdayIsApproved(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	wish := object{"worker": b.id("Ana Souza"), "days": 20, "start": "2026-12-07", "absence_type": "unpaid"}
	first, label := planned(t, b.facts("plan_time_off", wish, ""))
	if strings.Contains(label, "longer than usual") {
		t.Fatalf("it is known before Workday said it: %s", label)
	}
	wish["plan"] = first
	out := b.execute("request_time_off", wish, "one")
	if out.OK || out.Error.Type != "domain.workday_warns" || out.Error.EffectOf() != contracts.EffectNone || len(b.effects()) > 0 {
		t.Fatalf("%v %v", out.Error, b.effects())
	}
	delete(wish, "plan")
	second, label := planned(t, b.facts("plan_time_off", wish, ""))
	if second != first+";accepting A1040" || !strings.Contains(label, "Workday warns: The request is longer than usual.") {
		t.Fatalf("%s: %s", second, label)
	}
	wish["plan"] = second
	subset(t, object{"days": 20, "status": "submitted"}, b.facts("request_time_off", wish, "two"))
	if diff := cmp.Diff([]string{"time_off_requested x1"}, b.effects()); diff != "" {
		t.Error(diff)
	}
}

// TestWhatBecameOfARequest: a submitted request is not done. The requester sees whom it awaits, and
// afterwards the decision and its comment.
func TestWhatBecameOfARequest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		then func(b *bench)
		want object
		says string
	}{
		"it waits": {func(*bench) {}, object{"state": "submitted", "waits_for": "Helena Duarte"}, "waits for Helena Duarte"},
		"approved": {func(b *bench) { b.approveAll() }, object{"state": "approved"}, "approved"},
		"denied":   {func(b *bench) { b.tenant.DenyAll("too busy in December") }, object{"state": "denied", "comment": "too busy in December"}, "(too busy in December)"},
		"cancelled": {func(b *bench) {
			b.facts("cancel_time_off", object{"worker": b.id("Ana Souza"), "from": "2026-12-07"}, "c")
		}, object{"state": "cancelled"}, "cancelled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day := 24 * time.Hour
			now := time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC)
			b := setup(t, sandbox.Config{Now: func() time.Time { return now }})
			ana := b.id("Ana Souza")
			made := b.facts("request_time_off", object{"worker": ana, "days": 2, "start": "2026-12-07"}, "key")
			now = now.Add(3 * day)
			tt.then(b)
			out := b.execute("list_requests", object{"worker": ana, "about": "time off"}, "")
			rows, _ := out.Facts["requests"].([]any)
			newest, _ := rows[0].(object)
			subset(t, tt.want, newest)
			if newest["request_id"] != made["request_id"] || !strings.Contains(out.Summary, tt.says) {
				t.Errorf("%s: %v", out.Summary, newest)
			}
		})
	}
}

// TestATenantThatCancelsNoEvents: services before 2026-04 cannot cancel events. A pending request
// is refused with that reason; an approved one can be cancelled.
func TestATenantThatCancelsNoEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{NoCancel: true})
	ana := b.id("Ana Souza")
	b.facts("request_time_off", object{"worker": ana, "days": 2, "start": "2026-12-07"}, "key")
	out := b.execute("cancel_time_off", object{"worker": ana, "from": "2026-12-07"}, "c1")
	if out.OK || out.Error.EffectOf() != contracts.EffectNone || !strings.Contains(out.Error.Message, "cancels no request that waits for an approval; Ana Souza can cancel it") {
		t.Errorf("%v", out.Error)
	}
	b.approveAll()
	subset(t, object{"status": "cancelled", "days": 2}, b.facts("cancel_time_off", object{"worker": ana, "from": "2026-12-07"}, "c2"))
}

// TestAbsencesAreSentInTheFormThatTheServiceTakes: v5 expects a form, v1 JSON, and each rejects the
// other.
func TestAbsencesAreSentInTheFormThatTheServiceTakes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v5"} {
		for _, asJSON := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/json=%v", version, asJSON), func(t *testing.T) {
				t.Parallel()
				b := setup(t, sandbox.Config{})
				b.config.Tenant.Paths.Absence = "/ccx/api/absenceManagement/" + version + "/{tenant}"
				b.config.Tenant.AbsenceJSON = asJSON
				b.restart()
				out := b.execute("request_time_off", object{"worker": b.id("Ana Souza"), "days": 1, "start": "2026-12-07"}, "key")
				if fits := asJSON == (version == "v1"); out.OK != fits || len(b.effects()) > 0 != fits {
					t.Errorf("%v %v", out.Error, b.effects())
				}
			})
		}
	}
}
