package telegram_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

func TestAPressWhoseAnswerDoesNotGetThroughHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	w := setup(t, both)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "AAPL", "approve ")
	w.api.Fail("sendMessage", slices.Repeat([]telegramtest.Failure{{Status: http.StatusBadGateway, Text: "Bad Gateway"}}, 1_000_000)...)
	before := w.api.Calls("sendMessage")
	w.rita.Presses(gate, "Approve")
	w.told("approved")
	w.api.Until("answers are refused", func() bool { return w.api.Calls("sendMessage") > before+2 })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := w.server.Stop(ctx); err != nil {
		t.Fatalf("stop: %v", err)
	}
	w.api.Heal("sendMessage")
	w.start()
	w.reads(ritaID, "is approved, by rita")
	w.reads(ritaID, "verified")
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestACancelThatIsTakenUpAgainStopsNothingThatCameAfterIt(t *testing.T) {
	t.Parallel()
	w := setup(t, both)
	release := w.domain.hold()
	t.Cleanup(release)
	w.rita.Says(alert)
	w.rita.Presses(w.reads(ritaID, "AAPL", "approve "), "Approve")
	w.api.Until("the write is under way", func() bool { return w.domain.called("set_price_alert") == 1 })
	w.rita.Says("/cancel") // it waits for the write, and is not answered before the stop
	w.api.Until("the run is being cancelled", func() bool {
		run, err := w.admin().Run(t.Context(), gates(w)[0].RunID, client.Opt{})
		return err == nil && run.State == contracts.RunCancelling
	})
	w.rita.Says("set an alert for MSFT above 100")
	gate := w.reads(ritaID, "MSFT", "approve ")
	w.stop()
	w.start()
	w.rita.Says("/help") // it is processed after all others
	w.reads(ritaID, "You are rita")
	i, err := w.admin().Gate(t.Context(), strings.Split(gate.Buttons[0].Data, ":")[1])
	if err != nil || i.Status != contracts.InterruptOpen {
		t.Errorf("what was asked after the cancel is %s, %v", i.Status, err)
	}
}

func TestAPlaceThatMovesIsNotAnsweredAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at := map[string]any{"location": map[string]any{"latitude": 1.5, "longitude": 2.5, "live_period": 900}}
	w.api.Push(map[string]any{"message": w.rita.Message(at)})
	w.reads(ritaID, "I read text only")
	for range 3 {
		w.api.Push(map[string]any{"edited_message": w.rita.Message(at)})
	}
	w.rita.Says("/help")
	w.reads(ritaID, "You are rita")
	if n := len(w.api.Messages(ritaID)); n != 2 {
		t.Errorf("%d messages: %+v", n, w.api.Messages(ritaID))
	}
}
