package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/telegram"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// Stores and a catalog that panic when they are used.
type (
	brokenSessions struct{ orchestrator.Sessions }
	brokenGates    struct{ orchestrator.GateList }
	brokenTurns    struct{ orchestrator.Turns }
	brokenPreviews struct{ orchestrator.Previews }
	brokenRuns     struct{ execution.Store }
	brokenInvoker  struct{ execution.Invoker }
	noCatalog      struct{ execution.Catalogs }
)

func (noCatalog) Catalog() *contracts.Catalog { return contracts.NewCatalog("none", nil, nil) }

func (noCatalog) Health() map[string]contracts.HealthStatus { return nil }

// brokenBot is a bot with a service that panics, and an inbox.
func brokenBot(t *testing.T, api *telegramtest.Server, inbox orchestrator.Inbox, leads ...func(context.Context) (bool, error)) *telegram.Bot {
	t.Helper()
	runner, err := execution.New(execution.Config{}, execution.Deps{Store: brokenRuns{}, Invoker: brokenInvoker{}, Catalogs: noCatalog{}})
	if err != nil {
		t.Fatal(err)
	}
	rooms := orchestratortest.Wire(t, orchestratortest.Ports{
		Sessions: brokenSessions{}, Gates: brokenGates{}, Turns: brokenTurns{}, Previews: brokenPreviews{}, Runs: brokenRuns{}, Runner: runner,
		Catalogs: noCatalog{}, Notifier: orchestrator.NewLocalNotifier(),
	})
	cfg := telegram.Config{
		Token: telegramtest.Token, APIURL: api.URL(), PollTimeout: time.Second, Pause: time.Millisecond,
		People: map[int64]telegram.Person{ritaID: {Name: "rita", Roles: []string{"operator"}}},
		Limits: telegram.Limits{PerSecond: 10_000, Chat: time.Microsecond, Group: time.Microsecond},
	}
	deps := telegram.Deps{Conversation: rooms.Conversation, Gates: rooms.Gates, Inbox: inbox, Notifier: orchestrator.NewLocalNotifier()}
	for _, deps.Leads = range leads {
		break
	}
	bot, err := telegram.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

// process runs a bot until it is stopped.
func process(t *testing.T, bot *telegram.Bot) {
	t.Helper()
	if err := bot.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bot.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

func TestAPanicEndsItsUpdateAndNothingElse(t *testing.T) {
	t.Parallel()
	api, inbox := telegramtest.New(t), orchestratortest.NewStore()
	rita := api.Person(ritaID)
	process(t, brokenBot(t, api, inbox))
	rita.Says(price)
	rita.Says("/help")
	api.Until("both are answered", func() bool { return len(api.Messages(ritaID)) == 2 })
	if m := api.Messages(ritaID); !strings.Contains(m[0].Text, "Nothing more is done about this message") || !strings.Contains(m[1].Text, "You are rita") {
		t.Errorf("%+v", m)
	}
	given, err := inbox.GivenUp(t.Context(), "telegram:4711")
	if err != nil || len(given) != 1 || !strings.Contains(given[0].Reply, "panic: ") {
		t.Errorf("given up: %+v, %v", given, err)
	}
	api.Until("nothing is left", func() bool {
		left, err := inbox.Unfinished(t.Context(), "telegram:4711")
		return err == nil && len(left) == 0
	})
}

// TestWhatAnotherServerHasTakenIsNotBegun: a server that was frozen starts nothing from its queue,
// because another one leads, or has finished it.
func TestWhatAnotherServerHasTakenIsNotBegun(t *testing.T) {
	t.Parallel()
	const channel = "telegram:4711"
	api, inbox := telegramtest.New(t), orchestratortest.NewStore()
	rita := api.Person(ritaID)
	var looks atomic.Int64
	process(t, brokenBot(t, api, inbox, func(ctx context.Context) (bool, error) {
		switch looks.Add(1) {
		case 1:
			return false, errors.New("the store is held up")
		case 2:
			return false, nil
		case 3:
			left, err := inbox.Unfinished(ctx, channel)
			for _, r := range left {
				err = errors.Join(err, inbox.Finish(ctx, channel, r.ID))
			}
			return true, err
		}
		return true, nil
	}))
	none := func() bool {
		left, err := inbox.Unfinished(t.Context(), channel)
		return err == nil && len(left) == 0
	}
	rita.Says("/help")
	rita.Says("/help")
	api.Until("the other server ends both", func() bool { return looks.Load() == 3 && none() })
	rita.Says("/help")
	api.Until("the last is answered", func() bool { return len(api.Messages(ritaID)) > 0 && none() })
	if m := api.Messages(ritaID); len(m) != 1 || !strings.Contains(m[0].Text, "You are rita") {
		t.Errorf("%+v", m)
	}
}

func TestAnUpdateThatEndsTheProcessIsNotTakenForEver(t *testing.T) {
	t.Parallel()
	api, inbox := telegramtest.New(t), orchestratortest.NewStore()
	update := api.Person(ritaID).Text("/help")
	update["update_id"] = 77
	body, err := json.Marshal(update)
	if err != nil {
		t.Fatal(err)
	}
	item := orchestrator.InboxMessage{Channel: "telegram:4711", ID: "77", Body: body, At: time.Now()}
	if _, err := inbox.Receive(t.Context(), []orchestrator.InboxMessage{item}); err != nil {
		t.Fatal(err)
	}
	if _, err := inbox.NoteReply(t.Context(), "telegram:4711", "77", `{"tries":5}`); err != nil {
		t.Fatal(err)
	}
	process(t, brokenBot(t, api, inbox))
	api.Until("it is said", func() bool { return len(api.Messages(ritaID)) == 1 })
	if m := api.Messages(ritaID); !strings.Contains(m[0].Text, "Nothing more is done") {
		t.Errorf("%+v", m)
	}
	given, err := inbox.GivenUp(t.Context(), "telegram:4711")
	if err != nil || len(given) != 1 || !strings.Contains(given[0].Reply, "5 times") {
		t.Errorf("given up: %+v, %v", given, err)
	}
}

func TestWhatIsOpenGoesOnOverTheTurnOfAMonth(t *testing.T) {
	t.Parallel()
	w := setup(t)
	say := func(text string, at time.Time) {
		w.api.Push(map[string]any{"message": w.rita.Message(map[string]any{"text": text, "date": at.Unix()})})
	}
	january, february := time.Date(2027, 1, 31, 23, 59, 0, 0, time.UTC), time.Date(2027, 2, 1, 0, 1, 0, 0, time.UTC)
	say("set an alert above 250", january)
	w.reads(ritaID, "For which stock?", "2. ")
	say("2", february)
	w.reads(ritaID, "MSFT", "why: ")
	say("/cancel", february)
	w.reads(ritaID, "Cancelled.")
	say(price, february)
	w.reads(ritaID, "AAPL")
	say("/cancel", february)
	w.reads(ritaID, "Nothing is running or waiting")
	if got := gates(w); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestApproversAreCalledToTheGatesOfOthersOnce(t *testing.T) {
	t.Parallel()
	w := setup(t, func(c *app.Config) { c.Telegram.Approvers = []int64{ottoID, evaID, group} })
	w.rita.Says(alert)
	w.reads(ritaID, "Somebody else has to approve")
	called := w.reads(ottoID, "AAPL", ", rita", "approve ")
	inGroup := w.reads(group, "AAPL", ", rita")
	w.stop()
	w.start()
	w.otto.Presses(called, "Approve")
	w.reads(ritaID, "verified")
	w.api.Until("the buttons are gone in the group", func() bool {
		for _, m := range w.api.Messages(group) {
			if m.ID == inGroup.ID {
				return len(m.Buttons) == 0
			}
		}
		return false
	})
	calls := 0
	for _, m := range w.api.Messages(ottoID) {
		if strings.Contains(m.Text, "asked by") {
			calls++
		}
	}
	if calls != 1 || len(w.api.Messages(evaID)) != 0 {
		t.Errorf("otto is called %d times, eva reads %+v", calls, w.api.Messages(evaID))
	}
}

func TestAChatOfApproversThatIsGoneIsNotCalledAgain(t *testing.T) {
	t.Parallel()
	w := setup(t, func(c *app.Config) { c.Telegram.Approvers = []int64{ottoID} })
	w.api.Fail("sendMessage", telegramtest.Failure{Status: http.StatusForbidden, Text: "Forbidden: bot was blocked by the user"})
	if _, err := w.admin().StartSession(t.Context(), contracts.StartSession{Message: alert}, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	w.api.Until("the call was tried", func() bool { return w.api.Calls("sendMessage") == 1 })
	w.rita.Says("/help")
	w.reads(ritaID, "You are rita")
	if n := len(w.api.Messages(ottoID)); n != 0 {
		t.Errorf("otto is called %d times", n)
	}
}
