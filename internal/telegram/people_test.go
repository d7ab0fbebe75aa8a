package telegram_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
)

func runs(w *world) int {
	w.t.Helper()
	runs, err := w.admin().Runs(w.t.Context(), client.RunsFilter{Everybody: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(runs)
}

func TestAStrangerIsToldTheirIDAndStartsNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	mallory := w.api.Person(666)
	mallory.Says(price)
	m := w.reads(666, "666", "not on the list")
	mallory.Says(price) // he is told once a minute
	mallory.PressesData(m, "a:gate_x:y")
	w.told("666")
	w.rita.Says("/help")
	w.reads(ritaID, "You are rita")
	if n := w.domain.called("get_stock_price"); n != 0 || runs(w) != 0 || len(w.api.Messages(666)) != 1 {
		t.Errorf("%d calls, %d runs, %+v", n, runs(w), w.api.Messages(666))
	}
}

func TestInAGroupOnlyWhoAddressesTheBotIsHeard(t *testing.T) {
	t.Parallel()
	w := setup(t)
	rita, mallory := w.rita.In(group), w.api.Person(666).In(group)
	for _, text := range []string{price, "/status", "/status@another_bot", "@another_bot " + price} {
		rita.Says(text)
	}
	mallory.Says(price)
	rita.Says("/help@manifold_test_bot")
	help := w.reads(group, "You are rita")
	if n := len(w.api.Messages(group)); n != 1 || w.domain.called("get_stock_price") != 0 {
		t.Fatalf("%+v", w.api.Messages(group))
	}
	rita.Replies(help, price)
	w.reads(group, "AAPL")
	rita.Says("@Manifold_Test_Bot " + price)
	w.quiet(group, 3)
	mallory.Says("@manifold_test_bot " + price)
	w.reads(group, "not on the list", "666")
	if n := w.domain.called("get_stock_price"); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestAGroupThatIsNotOnTheListGetsNoAnswers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const other = -2002
	w.rita.In(other).Says("@manifold_test_bot " + price)
	w.reads(other, "do not answer in this group", strconv.Itoa(other))
	if n := w.domain.called("get_stock_price"); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

func TestTwoPeopleOfAGroupDoNotShareAConversation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	rita, eva := w.rita.In(group), w.eva.In(group)
	release := w.domain.hold()
	t.Cleanup(release)
	rita.Says("@manifold_test_bot " + price)
	w.api.Until("the domain is asked", func() bool { return w.domain.called("get_stock_price") == 1 })
	eva.Says("/cancel@manifold_test_bot")
	w.reads(group, "Nothing has been asked")
	release()
	w.reads(group, "AAPL")
}

func TestWhatIsNoTextOrWasEditedGetsAClearAnswer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.Push(map[string]any{"message": w.rita.Message(map[string]any{"photo": []any{map[string]any{"file_id": "x"}}, "caption": price})})
	w.reads(ritaID, "text only")
	edited := w.rita.Message(map[string]any{"text": price, "edit_date": 1_780_000_100})
	w.api.Push(map[string]any{"edited_message": edited})
	w.reads(ritaID, "do not follow edits")
	w.api.Push(map[string]any{"message": w.rita.Message(map[string]any{"pinned_message": map[string]any{"message_id": 1, "date": 0}})})
	w.api.Push(map[string]any{"message": "nonsense"})
	w.api.Push(map[string]any{"poll": map[string]any{"id": "1"}})
	for _, text := range []string{"/start", "/frobnicate", "/gate", "/gate 22222", "/cancel it"} {
		w.rita.Says(text)
	}
	w.quiet(ritaID, 7)
	var all strings.Builder
	for _, m := range w.api.Messages(ritaID) {
		all.WriteString(m.Text + "\n")
	}
	for _, want := range []string{"You are rita here (operator)", "do not know that command", "Write /gate and the code", "22222"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, &all)
		}
	}
	if n := w.domain.called("get_stock_price"); n != 0 || len(w.api.Messages(ritaID)) != 7 {
		t.Errorf("%d calls, %d messages", n, len(w.api.Messages(ritaID)))
	}
}

func TestAQuestionIsAnsweredByItsButton(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.In(group).Says("@manifold_test_bot set an alert above 250")
	question := w.reads(group, "For which stock?", "1. ")
	w.otto.In(group).Presses(question, "2. microsoft")
	w.told("waits for somebody else")
	if m := w.reads(group, "For which stock?"); len(m.Buttons) != len(question.Buttons) {
		t.Errorf("who may not answer leaves %+v", m.Buttons)
	}
	w.rita.In(group).Presses(question, "2. microsoft")
	w.reads(group, "MSFT", "why: ")
	w.rita.In(group).Presses(question, "1. apple")
	w.told("is answered, by", "rita")
	if got := gates(w); len(got) != 2 { // the question and the only gate
		t.Errorf("%+v", got)
	}
}

func TestAQuestionIsAnsweredByItsNumber(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says("set an alert above 250")
	w.reads(ritaID, "For which stock?", "2. ")
	w.rita.Says("2")
	w.reads(ritaID, "MSFT", "why: ")
}
