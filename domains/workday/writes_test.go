package workday_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func (b *bench) vacation(name string) float64 {
	b.Helper()
	rows, _ := b.facts("get_time_off_balances", object{"worker": b.id(name)}, "")["balances"].([]any)
	for _, row := range rows {
		fields, _ := row.(object)
		if quantity, isNumber := fields["quantity"].(float64); isNumber && fields["plan"] == "Vacation Plan" {
			return quantity
		}
	}
	b.Fatal("no vacation plan")
	return 0
}

func TestTimeOffIsRequestedOnWorkingDays(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		order object
		want  object
	}{
		"two days of the usual kind": {
			object{"days": 2, "start": "2026-12-07"},
			object{"days": 2, "first_day": "2026-12-07", "last_day": "2026-12-08", "absence_type": "vacation", "unit": "days", "status": "submitted"},
		},
		"over a weekend": {
			object{"days": 3, "start": "2026-12-10"}, object{"days": 3, "last_day": "2026-12-14", "quantity": 3},
		},
		"half a day": {
			object{"days": 0.5, "start": "2026-12-07"}, object{"days": 0.5, "quantity": 0.5, "last_day": "2026-12-07"},
		},
		"a kind that counts hours": {
			object{"days": 1.5, "start": "2026-12-07", "absence_type": "sick"},
			object{"days": 1.5, "quantity": 12, "unit": "hours", "last_day": "2026-12-08", "absence_type": "sick"},
		},
		"with a reason": {
			object{"days": 1, "start": "2026-12-07", "absence_type": "family_care", "reason": "parent"},
			object{"days": 1, "absence_type": "family_care"},
		},
		"a long one, of which Workday warns": {
			object{"days": 10, "start": "2026-12-07", "absence_type": "unpaid", "comment": "sabbatical"},
			object{"days": 10, "last_day": "2026-12-18", "absence_type": "unpaid"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			tt.order["worker"] = b.id("Ana Souza")
			out := b.execute("request_time_off", tt.order, "key")
			if !out.OK {
				t.Fatal(out.Error)
			}
			subset(t, tt.want, out.Facts)
			if !strings.Contains(out.Summary, "for Ana Souza") || !strings.Contains(out.Summary, "waiting for the approval") {
				t.Errorf("summary %q", out.Summary)
			}
			if diff := cmp.Diff([]string{"time_off_requested x1"}, b.effects()); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImpossibleRequestsAreRefusedWithoutEffect(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	var contingent string
	for _, w := range b.tenant.People() {
		if w.Contingent && !w.Terminated {
			contingent = w.ID
		}
	}
	ana := b.id("Ana Souza")
	b.facts("request_time_off", object{"worker": ana, "days": 2, "start": "2026-12-16"}, "first")
	t.Cleanup(func() {
		if got := len(b.effects()); got != 1 {
			t.Errorf("%d effects, want that of the first request", got)
		}
	})
	tests := map[string]struct {
		order   object
		errType string
		says    string
	}{
		"a first day at the weekend":    {object{"days": 1, "start": "2026-12-05"}, contracts.ErrPrecondition, "not a working day"},
		"a first day that is taken":     {object{"days": 1, "start": "2026-12-16"}, contracts.ErrConflict, "already has Vacation on 2026-12-16"},
		"a later day that is taken":     {object{"days": 3, "start": "2026-12-14"}, contracts.ErrConflict, "already has Vacation on 2026-12-16"},
		"more than is left":             {object{"days": 50, "start": "2027-02-01"}, contracts.ErrPrecondition, "sufficient balance"},
		"a missing reason":              {object{"days": 1, "start": "2026-12-07", "absence_type": "family_care"}, contracts.ErrPrecondition, "needs a reason"},
		"a reason that is none":         {object{"days": 1, "start": "2026-12-07", "absence_type": "family_care", "reason": "Cat"}, contracts.ErrPrecondition, "Child, Parent"},
		"a reason where there are none": {object{"days": 1, "start": "2026-12-07", "reason": "Child"}, contracts.ErrPrecondition, "takes no reason"},
		"someone who isn't eligible":    {object{"worker": contingent, "days": 1, "start": "2026-12-07"}, contracts.ErrPrecondition, "not eligible"},
		"a kind that does not exist":    {object{"days": 1, "start": "2026-12-07", "absence_type": "fun"}, contracts.ErrInvalidParameters, ""},
		"no days":                       {object{"days": 0, "start": "2026-12-07"}, contracts.ErrInvalidParameters, ""},
		"a third of a day":              {object{"days": 0.33, "start": "2026-12-07"}, contracts.ErrInvalidParameters, ""},
		"a date that is none":           {object{"days": 1, "start": "2026-02-30"}, contracts.ErrInvalidParameters, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.order["worker"] == nil {
				tt.order["worker"] = ana
			}
			out := b.execute("request_time_off", tt.order, name)
			if out.OK || out.Error.Type != tt.errType || out.Error.EffectOf() != contracts.EffectNone || !strings.Contains(out.Error.Message, tt.says) {
				t.Errorf("result %+v", out.Error)
			}
		})
	}
}

func TestAKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	order := object{"worker": b.id("Ana Souza"), "days": 2, "start": "2026-12-07"}
	var group sync.WaitGroup
	results := make([]contracts.ToolResult, 8)
	for i := range results {
		group.Go(func() { results[i] = b.execute("request_time_off", order, "key") })
	}
	group.Wait()
	for _, r := range results {
		if !r.OK || r.Facts["request_id"] != results[0].Facts["request_id"] {
			t.Errorf("result %v %v", r.Facts, r.Error)
		}
	}
	if diff := cmp.Diff([]string{"time_off_requested x1"}, b.effects()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	order["days"] = 3
	if out := b.execute("request_time_off", order, "key"); out.OK || out.Error.Type != contracts.ErrConflict {
		t.Errorf("the key with other parameters: %v", out.Error)
	}
}

func TestTimeOffIsCancelledAsItStands(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		approved  bool
		approvals []sandbox.Process
		order     object
		want      object
		left      float64
		refusal   string
	}{
		"a whole pending request by one of its days": {
			order: object{"from": "2026-12-11"},
			want:  object{"first_day": "2026-12-10", "last_day": "2026-12-14", "days": 3, "status": "cancelled", "remaining_days": 0},
		},
		"a part of a pending request is refused": {
			order: object{"from": "2026-12-10", "to": "2026-12-11"}, left: 3,
			refusal: "as a whole, from 2026-12-10 to 2026-12-14",
		},
		"a whole approved request": {
			approved: true, order: object{"from": "2026-12-14"}, want: object{"days": 3, "status": "cancelled"},
		},
		"a part of an approved request": {
			approved: true, order: object{"from": "2026-12-11", "to": "2026-12-14"}, left: 1,
			want: object{"days": 2, "first_day": "2026-12-11"},
		},
		"days that Workday wants to see first": {
			approved: true, approvals: []sandbox.Process{sandbox.RequestTimeOff, sandbox.CorrectTimeOff},
			order: object{"from": "2026-12-14"}, want: object{"status": "submitted", "remaining_days": 3}, left: 3,
		},
		"a request that is another's": {
			order: object{"from": "2026-12-10", "request_id": strings.Repeat("0", 32)}, left: 3, refusal: "0 of the worker's requests",
		},
		"a day without time off": {
			order: object{"from": "2026-12-15"}, left: 3, refusal: "no time off on 2026-12-15",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{NeedsApproval: tt.approvals})
			before := b.vacation("Ana Souza")
			ana := b.id("Ana Souza")
			b.facts("request_time_off", object{"worker": ana, "days": 3, "start": "2026-12-10", "comment": "trip"}, "first")
			if tt.approved {
				b.approveAll()
			}
			tt.order["worker"] = ana
			out := b.execute("cancel_time_off", tt.order, "second")
			switch {
			case tt.refusal == "" && !out.OK:
				t.Fatal(out.Error)
			case tt.refusal == "":
				subset(t, tt.want, out.Facts)
			case out.OK || !strings.Contains(out.Error.Message, tt.refusal):
				t.Errorf("result %v %v", out.Facts, out.Error)
			}
			subset(t, object{"days": tt.left}, b.facts("list_time_off", object{"worker": ana}, ""))
			if tt.left == 0 && b.vacation("Ana Souza") != before {
				t.Errorf("balance %v, was %v", b.vacation("Ana Souza"), before)
			}
		})
	}
}

func TestRequestsAreFoundByKeyWhateverBecameOfThem(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		then   func(b *bench)
		status string
	}{
		"waiting":  {func(*bench) {}, "submitted"},
		"approved": {func(b *bench) { b.approveAll() }, "approved"},
		"cancelled": {func(b *bench) {
			b.facts("cancel_time_off", object{"worker": b.id("Ana Souza"), "from": "2026-12-07"}, "c")
		}, "cancelled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			look := object{"write": object{"worker": b.id("Ana Souza"), "start": "2026-12-07", "days": 2}, "key": "key"}
			subset(t, object{"applied": false}, b.facts("find_request_time_off", look, ""))
			made := b.facts("request_time_off", object{"worker": b.id("Ana Souza"), "days": 2, "start": "2026-12-07"}, "key")
			tt.then(b)
			found := b.facts("find_request_time_off", look, "")
			subset(t, object{"applied": true, "status": tt.status, "request_id": made["request_id"]}, found)
			look["key"] = "another"
			subset(t, object{"applied": false}, b.facts("find_request_time_off", look, ""))
		})
	}
}

func TestTitlesAreChangedOnceAndKnowWhatWasBefore(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{NeedsApproval: []sandbox.Process{sandbox.ChangeBusinessTitle}})
	ana := b.people["Ana Souza"]
	order := object{"worker": ana.ID, "title": "Chief Gardener"}
	look := object{"write": order}
	subset(t, object{"applied": false}, b.facts("find_change_business_title", look, ""))
	subset(t, object{"in_effect": false, "previous_title": ana.Title}, b.facts("change_business_title", order, "key"))
	subset(t, object{"applied": true, "in_effect": false, "previous_title": ana.Title}, b.facts("find_change_business_title", look, ""))
	b.approveAll()
	subset(t, object{"applied": true, "in_effect": true, "previous_title": ana.Title}, b.facts("find_change_business_title", look, ""))
	subset(t, object{"in_effect": true, "previous_title": "Chief Gardener"}, b.facts("change_business_title", order, "other key"))
	if diff := cmp.Diff([]string{"business_title_changed x1", "step_approved x1"}, b.effects()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

func TestATitleThatCameToNothingIsNotClaimed(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{NeedsApproval: []sandbox.Process{sandbox.ChangeBusinessTitle}})
	order := object{"worker": b.id("Ana Souza"), "title": "Chief Gardener"}
	look := object{"write": order}
	b.facts("change_business_title", order, "key")
	if n := b.tenant.DenyAll("no garden"); n != 1 {
		t.Fatalf("%d denied", n)
	}
	facts := b.facts("find_change_business_title", look, "")
	if applied, has := facts["applied"]; !has || applied != nil {
		t.Errorf("applied is %v, want null", applied)
	}
}
