package telegram_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

func TestTheSameUpdateTwiceIsTakenOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := w.rita.Text(alert)
	no := w.api.Push(body)
	w.reads(ritaID, "Somebody else has to approve")
	w.api.Repeat(no, body)
	help := w.rita.Text("/help")
	no = w.api.Push(help)
	w.reads(ritaID, "You are rita")
	w.api.Repeat(no, help)
	w.rita.Says("/gate") // it is processed after all others
	w.reads(ritaID, "Write /gate and the code")
	if n := len(w.api.Messages(ritaID)); n != 3 {
		t.Errorf("%d messages: %+v", n, w.api.Messages(ritaID))
	}
	if got := gates(w); len(got) != 1 {
		t.Errorf("gates %+v", got)
	}
}

func TestWhatWasUnderWayAtAStopIsAnsweredAfterIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	release := w.domain.hold()
	t.Cleanup(release)
	body := w.rita.Text(price)
	no := w.api.Push(body)
	progress := w.reads(ritaID, "Working…")
	w.stop()
	release()
	w.api.Repeat(no, body) // Telegram has missed the acknowledgement
	w.start()
	answer := w.reads(ritaID, "AAPL", "USD")
	w.eva.Says("/help")
	w.reads(evaID, "You are eva")
	if answer.ID != progress.ID || len(w.api.Messages(ritaID)) != 1 {
		t.Errorf("the answer is not in the place of the progress: %+v", w.api.Messages(ritaID))
	}
	runs, err := w.admin().Runs(t.Context(), client.RunsFilter{Everybody: true})
	if err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestAGateOutlivesARestartAndItsRequesterHearsOfTheEnd(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says(alert)
	gate := w.reads(ritaID, "Somebody else has to approve")
	code := strings.Fields(gate.Buttons[0].Text)[1]
	w.stop()
	w.start()
	w.otto.Says("/gate " + code)
	w.reads(ottoID, code)
	w.otto.Says("approve " + code)
	w.reads(ritaID, "verified")
	shown := 0
	for _, m := range w.api.Messages(ritaID) {
		if strings.Contains(m.Text, "Somebody else has to approve") {
			shown++
			w.bare(m)
		}
	}
	if shown != 1 {
		t.Errorf("the gate is shown %d times: %+v", shown, w.api.Messages(ritaID))
	}
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
}

func TestAnAnswerThatTelegramRefusesForNowIsSentOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.Fail(
		"sendMessage",
		telegramtest.Failure{Status: http.StatusTooManyRequests, Text: "Too Many Requests: retry after 1", RetryAfter: 1},
		telegramtest.Failure{Status: http.StatusBadGateway, Text: "Bad Gateway", HTML: true},
		telegramtest.Failure{Status: http.StatusInternalServerError, Text: "Internal Server Error"},
	)
	w.rita.Says(price)
	w.reads(ritaID, "AAPL")
	at := w.api.Times("sendMessage")
	if len(at) != 4 || len(w.api.Messages(ritaID)) != 1 {
		t.Fatalf("%d calls, messages %+v", len(at), w.api.Messages(ritaID))
	}
	if pause := at[1].Sub(at[0]); pause < time.Second {
		t.Errorf("it was told to wait a second, and waited %s", pause)
	}
}

func TestAnAnswerThatCanNeverArriveHoldsUpNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.Fail("sendMessage", telegramtest.Failure{Status: http.StatusForbidden, Text: "Forbidden: bot was blocked by the user"})
	w.rita.Says(price)
	w.api.Until("it was tried", func() bool { return w.api.Calls("sendMessage") == 1 })
	w.rita.Says("/help")
	w.reads(ritaID, "You are rita")
	if !strings.Contains(w.log.String(), "telegram refuses an answer") {
		t.Error("the log does not tell of it")
	}
	w.stop()
	w.start()
	w.eva.Says("/help")
	w.reads(evaID, "You are eva")
	if n := len(w.api.Messages(ritaID)); n != 1 {
		t.Errorf("it is tried again after a restart: %+v", w.api.Messages(ritaID))
	}
}

func TestFormattingThatTelegramRefusesIsSentPlain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.Fail("sendMessage", telegramtest.Failure{Status: http.StatusBadRequest, Text: "Bad Request: can't parse entities: whatever"})
	w.rita.Says("/help")
	if m := w.reads(ritaID, "You are rita"); m.HTML != m.Text {
		t.Errorf("sent as %q", m.HTML)
	}
}

func TestPollingOutlivesEveryFailure(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.survives(telegramtest.Failure{Status: http.StatusConflict, Text: "Conflict: terminated by other getUpdates request"}, "another process polls")
	w.survives(telegramtest.Failure{Status: http.StatusConflict, Text: "Conflict: can't use getUpdates method while webhook is active"}, "a webhook is set")
	w.survives(telegramtest.Failure{Status: http.StatusBadGateway, HTML: true}, "not the answer of a Bot API")
	w.survives(telegramtest.Failure{Status: http.StatusTooManyRequests, RetryAfter: 1, Text: "Too Many Requests"}, "Too Many Requests")
	w.survives(telegramtest.Failure{Status: http.StatusUnauthorized, Text: "Unauthorized"}, "token was withdrawn")
	if strings.Contains(w.log.String(), telegramtest.Token) {
		t.Error("the token is in the log")
	}
}

// survives makes a poll fail, and checks that the bot logs it and continues.
func (w *world) survives(f telegramtest.Failure, says string) {
	w.t.Helper()
	before := len(w.api.Messages(ritaID))
	w.api.Fail("getUpdates", f)
	w.rita.Says("/help") // it ends the pending poll
	w.rita.Says("/help")
	w.quiet(ritaID, before+2)
	if !strings.Contains(w.log.String(), says) {
		w.t.Errorf("the log does not say %q", says)
	}
}

func TestATokenThatTelegramDoesNotKnowStopsTheStart(t *testing.T) {
	t.Parallel()
	api := telegramtest.New(t)
	cfg := app.Config{Addr: "127.0.0.1:0", DataDir: t.TempDir(), Telegram: app.Telegram{
		Token: "4711:wrong", APIURL: api.URL(), People: map[int64]app.TelegramPerson{ritaID: {Name: "rita", Roles: []string{"viewer"}}},
	}}
	a, err := app.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Stop(t.Context()) })
	if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "BotFather") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("got %v", err)
	}
}

func TestATelegramThatIsDownDoesNotKeepTheServerFromStarting(t *testing.T) {
	t.Parallel()
	w := setup(t, func(c *app.Config) {
		c.Telegram.APIURL = "http://127.0.0.1:1" // nobody listens there
	})
	if _, err := w.admin().Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if text := w.log.String(); !strings.Contains(text, "cannot be reached yet") || strings.Contains(text, telegramtest.Token) {
		t.Errorf("the log says %s", text)
	}
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*app.Telegram){
		"nobody may use it":       func(c *app.Telegram) { c.People = nil },
		"a person without a role": func(c *app.Telegram) { c.People[ritaID] = app.TelegramPerson{Name: "rita"} },
		"a name that is no name": func(c *app.Telegram) {
			c.People[ritaID] = app.TelegramPerson{Name: "service:x", Roles: []string{"viewer"}}
		},
		"a role that is no word":       func(c *app.Telegram) { c.People[ritaID] = app.TelegramPerson{Name: "rita", Roles: []string{"Admin!"}} },
		"a group with a person's id":   func(c *app.Telegram) { c.Groups = []int64{5} },
		"an address that is no URL":    func(c *app.Telegram) { c.APIURL = "api.telegram.org" },
		"an address with a user in it": func(c *app.Telegram) { c.APIURL = "https://me:pw@api.telegram.org" },
		"a token with a path in it":    func(c *app.Telegram) { c.Token = "1:a/../b" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := app.Telegram{Token: "1:a", People: map[int64]app.TelegramPerson{ritaID: {Name: "rita", Roles: []string{"viewer"}}}}
			change(&cfg)
			a, err := app.New(t.Context(), app.Config{DataDir: t.TempDir(), Telegram: cfg})
			if err == nil {
				_ = a.Stop(t.Context())
				t.Fatal("it is taken")
			}
		})
	}
}
