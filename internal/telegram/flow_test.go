package telegram_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// both makes rita an approver as well.
func both(c *app.Config) {
	c.Telegram.People[ritaID] = app.TelegramPerson{Name: "rita", Roles: []string{"operator", "approver"}}
}

func gates(w *world) []contracts.Interrupt {
	w.t.Helper()
	all, err := w.admin().Gates(w.t.Context(), client.GatesFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func TestAQuestionIsAnsweredInOneMessage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says(price)
	m := w.reads(ritaID, "AAPL")
	if len(w.api.Messages(ritaID)) != 1 || len(m.Buttons) != 0 || m.ReplyTo != 0 {
		t.Errorf("%+v", w.api.Messages(ritaID))
	}
	if w.domain.called("get_stock_price") != 1 {
		t.Errorf("called %d times", w.domain.called("get_stock_price"))
	}
}

func TestAWriteIsApprovedByTheButtonOfSomebodyElse(t *testing.T) {
	t.Parallel()
	w := setup(t)
	rita, otto := w.rita.In(group), w.otto.In(group)
	rita.Says("@manifold_test_bot " + alert)
	gate := w.reads(group, "AAPL", "250", "risk", "approve ")
	if len(gate.Buttons) != 2 || gate.ReplyTo == 0 {
		t.Fatalf("%+v", gate)
	}
	w.eva.In(group).Presses(gate, "Approve")
	w.told("waits for somebody else")
	rita.Presses(gate, "Approve")
	w.told("needs the role approver")
	if n := w.domain.called("set_price_alert"); n != 0 {
		t.Fatalf("the write was sent %d times without an approval", n)
	}
	otto.Presses(gate, "Approve")
	w.told("approved", "otto")
	w.reads(group, "verified")
	for _, m := range w.api.Messages(group) {
		if len(m.Buttons) > 0 {
			t.Errorf("buttons are left below %q", m.Text)
		}
	}
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
	if d := gates(w)[0].Decisions; len(d) != 1 || d[0].DecidedBy != "otto" || d[0].Via != "telegram" {
		t.Errorf("the record says %+v", d)
	}
	// The same button again is rejected with the reason.
	otto.Presses(gate, "Approve")
	w.api.Until("the second press is told", func() bool { return len(w.api.Toasts()) == 4 })
	if last := w.api.Toasts()[3].Text; !strings.Contains(last, "is approved, by otto") {
		t.Errorf("told %q", last)
	}
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestARequesterHearsOfWhatSomebodyDecidedElsewhere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "Somebody else has to approve")
	if len(gate.Buttons) != 1 || !strings.HasPrefix(gate.Buttons[0].Text, "Withdraw") {
		t.Fatalf("rita may not approve, and sees %+v", gate.Buttons)
	}
	code := strings.Fields(gate.Buttons[0].Text)[1]
	w.otto.Says("/gates")
	w.reads(ottoID, code)
	w.otto.Says("/gate " + strings.ToLower(code))
	shown := w.reads(ottoID, "AAPL", "why: ") // an approver sees the action before the decision
	if len(shown.Buttons) != 2 {
		t.Fatalf("otto sees %+v", shown.Buttons)
	}
	w.otto.Says("approve " + code)
	w.reads(ottoID, code+" is approved")
	w.reads(ritaID, "verified")
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestAWordApprovesOnlyWhatTheChatHasShown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "Somebody else has to approve")
	code := strings.Fields(gate.Buttons[0].Text)[1]
	w.otto.Says("/gates")
	w.reads(ottoID, code)
	w.otto.Says("approve " + code)
	shown := w.reads(ottoID, "Nothing is approved yet", "AAPL", "why: ")
	if n := w.domain.called("set_price_alert"); n != 0 || len(shown.Buttons) != 2 {
		t.Fatalf("the write was sent %d times, and shown was %+v", n, shown)
	}
	w.otto.Says("approve " + code)
	w.reads(ottoID, code+" is approved")
	w.reads(ritaID, "verified")
}

func TestAGateOfSomebodyElseIsNotThereForThoseWithoutARight(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "Somebody else has to approve")
	code := strings.Fields(gate.Buttons[0].Text)[1]
	w.eva.Says("/gate " + code)
	w.reads(evaID, "there is no gate")
	w.eva.Says("approve " + code)
	w.eva.PressesData(gate, strings.Replace(gate.Buttons[0].Data, "r:", "a:", 1))
	w.told("waits for somebody else")
	w.eva.Says("/gates")
	w.reads(evaID, "Nothing is waiting")
	if n := w.domain.called("set_price_alert"); n != 0 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestAStaleButtonIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "Somebody else has to approve")
	id := strings.Split(gate.Buttons[0].Data, ":")[1]
	// Somebody edits the action: the gate and the hash are new, the button is old.
	i, err := w.admin().Gate(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	edited := i.Action.Parameters
	edited["above"] = 300
	if _, err := w.admin().Decide(t.Context(), id, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: edited}, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	fresh := w.reads(ritaID, "300", "Somebody else has to approve")
	w.otto.PressesData(gate, "a:"+id+":"+i.ActionSHA256[:32])
	w.told("no longer counts", "changed")
	w.otto.PressesData(fresh, "a:"+strings.Split(fresh.Buttons[0].Data, ":")[1]+":"+i.ActionSHA256[:32])
	w.told("stale", "another action")
	for _, data := range []string{"a:" + id, "x:" + id + ":1", "nonsense", "a:" + id + ":"} {
		before := len(w.api.Toasts())
		w.otto.PressesData(fresh, data)
		w.api.Until("it is answered", func() bool { return len(w.api.Toasts()) > before })
	}
	if n := w.domain.called("set_price_alert"); n != 0 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestABareApproveCountsOnlyAsAReplyToItsGate(t *testing.T) {
	t.Parallel()
	w := setup(t, both)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "AAPL", "approve ")
	w.rita.Says("approve")
	w.reads(ritaID, "Waiting:")
	w.rita.Says("yes, do it please")
	w.quiet(ritaID, 3)
	if n := w.domain.called("set_price_alert"); n != 0 {
		t.Fatalf("the write was sent %d times", n)
	}
	w.rita.Replies(gate, "approve")
	w.reads(ritaID, "verified")
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestForwardedWordsAreNoCommand(t *testing.T) {
	t.Parallel()
	w := setup(t, both)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "AAPL", "approve ")
	code := strings.Fields(gate.Buttons[0].Text)[1]
	w.api.Push(map[string]any{"message": w.rita.Message(map[string]any{
		"text": "approve " + code, "forward_origin": map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "Somebody"},
	})})
	w.quiet(ritaID, 2)
	if got := gates(w); len(got) != 1 || got[0].Status != contracts.InterruptOpen {
		t.Errorf("%+v", got)
	}
}

func TestCancelStopsWhatIsRunningAndStatusTellsWhereItStands(t *testing.T) {
	t.Parallel()
	w := setup(t)
	release := w.domain.hold()
	t.Cleanup(release)
	w.rita.Says(price)
	w.api.Until("the domain is asked", func() bool { return w.domain.called("get_stock_price") == 1 })
	w.rita.Says("/cancel")
	w.reads(ritaID, "Cancelled")
	w.eva.Says("/cancel")
	w.reads(evaID, "Nothing has been asked")
	w.rita.Says("/status")
	w.quiet(ritaID, 3)
}
