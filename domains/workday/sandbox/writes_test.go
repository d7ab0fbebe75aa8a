package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// kinds maps the names of absence types to their ids.
func (b *bench) kinds(workerID string) map[string]string {
	b.Helper()
	out := map[string]string{}
	list, _ := b.get(absence + "/workers/" + workerID + "/eligibleAbsenceTypes")["data"].([]any)
	for _, item := range list {
		out[fmt.Sprint(dig(item, "descriptor"))] = fmt.Sprint(dig(item, "id"))
	}
	return out
}

func day(date, kind string, quantity float64) object {
	return object{"date": date, "dailyQuantity": quantity, "timeOffType": object{"id": kind}, "comment": "[op:1]"}
}

func (b *bench) request(workerID string, days ...any) (int, object) {
	b.Helper()
	return b.call(http.MethodPost, absence+"/workers/"+workerID+"/requestTimeOff", object{
		"days": days, "businessProcessParameters": object{"action": object{"id": submitAction}},
	})
}

func (b *bench) vacation(workerID string) float64 {
	b.Helper()
	quantity, isNumber := dig(b.get(absence+"/balances?worker="+workerID), "data", 0, "quantity").(float64)
	if !isNumber {
		b.Fatal("no vacation balance")
	}
	return quantity
}

func eventOf(out object) string {
	return fmt.Sprint(dig(out, "businessProcessParameters", "overallBusinessProcess", "id"))
}

func kindsOf(effects []sandbox.Effect) []string {
	var out []string
	for _, e := range effects {
		out = append(out, fmt.Sprintf("%s x%d", e.Kind, e.Count))
	}
	return out
}

func TestTimeOffTakesEffectWhenTheManagerApproves(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	ana := b.people["Ana Souza"]
	vacation := b.kinds(ana.ID)["Vacation"]
	before := b.vacation(ana.ID)

	status, out := b.request(ana.ID, day("2026-12-07", vacation, 1), day("2026-12-08", vacation, 1))
	if status != http.StatusCreated || dig(out, "businessProcessParameters", "overallStatus") != "In Progress" {
		t.Fatalf("request: %d %v", status, out)
	}
	details := b.get(absence + "/workers/" + ana.ID + "/timeOffDetails?fromDate=2026-12-01&toDate=2026-12-31")
	if dig(details, "data", 1, "status", "descriptor") != "Submitted" || dig(details, "data", 1, "comment") != "[op:1]" {
		t.Errorf("details: %v", details)
	}
	if b.vacation(ana.ID) != before {
		t.Error("the balance moved before the approval")
	}

	system := b.token
	step := fmt.Sprint(dig(b.get(processes+"/events/"+eventOf(out)+"/inProgressSteps"), "data", 0, "id"))
	if status, out := b.call(http.MethodPost, processes+"/eventSteps/"+step+"/approve", object{"id": step}); status != http.StatusBadRequest || dig(out, "errors", 0, "code") != "A212" {
		t.Errorf("the system user approved: %d %v", status, out)
	}
	b.token = b.login(b.tenant.CredentialsFor(ana.ManagerID))
	if status, out := b.call(http.MethodPost, processes+"/eventSteps/"+step+"/approve", object{"id": step}); status != http.StatusCreated {
		t.Fatalf("approve: %d %v", status, out)
	}
	if status, out := b.call(http.MethodPost, processes+"/eventSteps/"+step+"/approve", object{"id": step}); dig(out, "errors", 0, "code") != "A212" {
		t.Errorf("approve again: %d %v", status, out)
	}
	b.token = system
	if got := b.vacation(ana.ID); got != before-2 {
		t.Errorf("balance %v, was %v", got, before)
	}
	want := []string{"time_off_requested x1", "step_approved x1"}
	if diff := cmp.Diff(want, kindsOf(b.tenant.Effects())); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

func TestTimeOffIsTakenBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		approvals []sandbox.Process
		undo      func(b *bench, workerID string, out object) (int, object)
	}{
		"a pending request by cancelling its event": {nil, func(b *bench, _ string, out object) (int, object) {
			return b.call(http.MethodPost, processes+"/events/"+eventOf(out)+"/cancel", object{"comment": "[op:2]"})
		}},
		"an approved one by rescinding its event": {[]sandbox.Process{}, func(b *bench, _ string, out object) (int, object) {
			return b.call(http.MethodPost, processes+"/events/"+eventOf(out)+"/rescind", object{})
		}},
		"an approved day by deleting the entry": {[]sandbox.Process{}, func(b *bench, workerID string, out object) (int, object) {
			return b.call(http.MethodPost, absence+"/workers/"+workerID+"/correctTimeOffEntry", object{
				"days":                      []any{object{"correctedEntry": object{"id": dig(out, "days", 0, "id")}, "delete": true}},
				"businessProcessParameters": object{"action": object{"id": submitAction}},
			})
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{NeedsApproval: tt.approvals})
			ana := b.people["Ana Souza"]
			before := b.vacation(ana.ID)
			status, out := b.request(ana.ID, day("2026-12-07", b.kinds(ana.ID)["Vacation"], 1))
			if status != http.StatusCreated {
				t.Fatalf("request: %d %v", status, out)
			}
			if status, answer := tt.undo(b, ana.ID, out); status != http.StatusCreated {
				t.Fatalf("undo: %d %v", status, answer)
			}
			details := b.get(absence + "/workers/" + ana.ID + "/timeOffDetails?fromDate=2026-12-01")
			if details["total"] != 0.0 || b.vacation(ana.ID) != before {
				t.Errorf("left over: %v, balance %v, was %v", details, b.vacation(ana.ID), before)
			}
			if status, _ := tt.undo(b, ana.ID, out); status != http.StatusBadRequest {
				t.Errorf("undone twice: %d", status)
			}
		})
	}
}

func TestRequestsAreRefusedByCode(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	ana := b.people["Ana Souza"]
	kinds := b.kinds(ana.ID)
	var contingent, busy sandbox.Worker
	for _, w := range b.tenant.People() {
		if w.Contingent && !w.Terminated {
			contingent = w
		}
		if w.MoreJobs {
			busy = w
		}
	}
	if status, out := b.request(ana.ID, day("2026-12-14", kinds["Vacation"], 1)); status != http.StatusCreated {
		t.Fatalf("request: %d %v", status, out)
	}
	t.Cleanup(func() {
		if got := len(b.tenant.Effects()); got != 1 {
			t.Errorf("%d effects, want that of the first request", got)
		}
	})
	tests := map[string]struct {
		worker sandbox.Worker
		day    object
		code   string
	}{
		"no date":                        {ana, day("", kinds["Vacation"], 1), "A1038"},
		"no type":                        {ana, day("2026-12-07", "", 1), "A1009"},
		"no quantity":                    {ana, object{"date": "2026-12-07", "timeOffType": object{"id": kinds["Vacation"]}}, "A1017"},
		"a quantity of nothing":          {ana, day("2026-12-07", kinds["Vacation"], 0), "A1016"},
		"more than a day":                {ana, day("2026-12-07", kinds["Sick"], 9), "A1022"},
		"a Saturday":                     {ana, day("2026-12-05", kinds["Vacation"], 1), "A1048"},
		"a day that is taken":            {ana, day("2026-12-14", kinds["Sick"], 8), "A1028"},
		"care without a reason":          {ana, day("2026-12-07", kinds["Family Care"], 1), "A1036"},
		"someone who isn't employed":     {contingent, day("2026-12-07", kinds["Vacation"], 1), "A1041"},
		"someone with two jobs":          {busy, day("2026-12-07", kinds["Unpaid Time Off"], 1), "A1050"},
		"more than the balance can bear": {ana, nil, "A1011"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days := []any{tt.day}
			if tt.day == nil {
				days = nil
				for i := range 9 { // 9 days of care; the balance is 5
					d := day(fmt.Sprintf("2027-01-%02d", 4+i+i/5*2), kinds["Family Care"], 1)
					d["reason"] = object{"id": b.reason(ana.ID)}
					days = append(days, d)
				}
			}
			status, out := b.request(tt.worker.ID, days...)
			if status != http.StatusBadRequest || dig(out, "errors", 0, "code") != tt.code {
				t.Errorf("%d %v, want %s", status, out, tt.code)
			}
		})
	}
}

func (b *bench) reason(workerID string) string {
	b.Helper()
	return fmt.Sprint(dig(b.get(absence+"/workers/"+workerID+"/eligibleAbsenceTypes"), "data", 2, "absenceReasons", 0, "id"))
}

func TestWarningsBlockUnlessAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	ana := b.people["Ana Souza"]
	unpaid := b.kinds(ana.ID)["Unpaid Time Off"]
	var days []any
	for week := range 3 {
		for d := range 5 {
			days = append(days, day(fmt.Sprintf("2027-02-%02d", 1+week*7+d), unpaid, 1))
		}
	}
	status, out := b.request(ana.ID, days...)
	if status != http.StatusBadRequest || dig(out, "errors", 0, "severity") != "Warning" {
		t.Errorf("without the header: %d %v", status, out)
	}
	if len(b.tenant.Effects()) != 0 {
		t.Error("a blocked request took effect")
	}
}

func TestTitlesChangeAtOnceOrAfterApproval(t *testing.T) {
	t.Parallel()
	for name, approvals := range map[string][]sandbox.Process{
		"at once":        nil,
		"after approval": {sandbox.ChangeBusinessTitle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{NeedsApproval: approvals})
			ana := b.people["Ana Souza"]
			path := common + "/workers/" + ana.ID
			status, out := b.call(http.MethodPost, path+"/businessTitleChanges", object{"proposedBusinessTitle": "Chief Gardener"})
			if status != http.StatusCreated || out["currentBusinessTitle"] != ana.Title {
				t.Fatalf("change: %d %v", status, out)
			}
			want := "Chief Gardener"
			if approvals != nil {
				want = ana.Title
				if status, _ := b.call(http.MethodPost, path+"/businessTitleChanges", object{"proposedBusinessTitle": "Other"}); status != http.StatusBadRequest {
					t.Errorf("a second change while one is pending gave %d", status)
				}
			}
			if got := b.get(path)["businessTitle"]; got != want {
				t.Errorf("title %v, want %v", got, want)
			}
			if got := b.get(path + "/businessTitleChanges")["total"]; got != 1.0 {
				t.Errorf("%v changes listed", got)
			}
		})
	}
}
