package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

// The people of the tests. Everybody else is a stranger.
const (
	ritaID, ottoID, evaID = 11, 22, 33
	group                 = -1001
)

// world is a whole server with a domain, a Bot API, and people.
type world struct {
	t      *testing.T
	api    *telegramtest.Server
	domain *domain
	cfg    app.Config
	server *app.App
	log    *record
	rita   telegramtest.Person // operator
	otto   telegramtest.Person // approver
	eva    telegramtest.Person // viewer
}

// record is a log that can be read while it is written.
type record struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// domain counts the calls of a domain, and can block them.
type domain struct {
	url string

	mu    sync.Mutex // guards the fields below
	calls map[string]int
	gate  chan struct{} // closing it releases the calls
}

func serveDomain(t *testing.T) *domain {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := svc.Handler()
	if err != nil {
		t.Fatal(err)
	}
	d := &domain{calls: map[string]int{}, gate: make(chan struct{})}
	close(d.gate)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/execute" {
			body, _ := io.ReadAll(r.Body)
			var call struct{ Capability string }
			_ = json.Unmarshal(body, &call)
			d.mu.Lock()
			d.calls[call.Capability]++
			gate := d.gate
			d.mu.Unlock()
			select {
			case <-gate:
			case <-r.Context().Done():
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	d.url = web.URL
	return d
}

// hold blocks calls until the returned function is called.
func (d *domain) hold() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	gate := make(chan struct{})
	d.gate = gate
	return sync.OnceFunc(func() { close(gate) })
}

func (d *domain) called(capability string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[capability]
}

// blank is an empty database. Creating its tables takes longer than most of these tests, so it is
// created once and copied.
var blank = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "blank")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blank.db")
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// dataDir returns a folder with an empty database.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := blank()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "manifold.db"), db, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func setup(t *testing.T, change ...func(*app.Config)) *world {
	t.Helper()
	w := &world{t: t, api: telegramtest.New(t), domain: serveDomain(t), log: &record{}}
	w.rita, w.otto, w.eva = w.api.Person(ritaID), w.api.Person(ottoID), w.api.Person(evaID)
	w.cfg = app.Config{
		Addr: "127.0.0.1:0", DataDir: dataDir(t), Bootstrap: []byte(`{"domains":[{"domain":"finance","url":"` + w.domain.url + `"}]}`),
		SessionsPerMinute: 1_000_000, SessionBurst: 1_000_000, RequestsPerMinute: 1_000_000, RequestBurst: 1_000_000,
		Logger: slog.New(slog.NewJSONHandler(w.log, nil)),
		Telegram: app.Telegram{
			Token: telegramtest.Token, APIURL: w.api.URL(), Groups: []int64{group},
			People: map[int64]app.TelegramPerson{
				ritaID: {Name: "rita", Roles: []string{"operator"}}, ottoID: {Name: "otto", Roles: []string{"approver"}},
				evaID: {Name: "eva", Roles: []string{"viewer"}},
			},
			PollTimeout: 2 * time.Second, Pause: 10 * time.Millisecond, PauseMax: 50 * time.Millisecond,
		},
	}
	w.cfg.Telegram.Limits.PerSecond, w.cfg.Telegram.Limits.Chat, w.cfg.Telegram.Limits.Group = 10_000, time.Microsecond, time.Microsecond
	w.cfg.Telegram.Limits.Progress = 20 * time.Millisecond
	for _, c := range change {
		c(&w.cfg)
	}
	w.start()
	return w
}

// start starts a process on the same data.
func (w *world) start() {
	w.t.Helper()
	server, err := app.New(w.t.Context(), w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			w.t.Errorf("stop: %v", err)
		}
	})
	if err := server.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if err := server.Settled(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.server = server
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.server.Stop(context.Background()); err != nil {
		w.t.Fatalf("stop: %v", err)
	}
}

// admin returns a REST client with all rights.
func (w *world) admin() *client.Client {
	w.t.Helper()
	key, err := os.ReadFile(w.server.AdminKeyFile())
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := client.New(client.Config{URL: w.server.URL(), Key: strings.TrimSpace(string(key))})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// reads waits for a message in a chat whose text contains all of the words.
func (w *world) reads(chat int64, words ...string) telegramtest.Message {
	w.t.Helper()
	return w.sees(chat, strings.Join(words, ", "), func(m telegramtest.Message) bool { return hasAll(m.Text, words) })
}

// sees waits for a message in a chat that fulfils a condition.
func (w *world) sees(chat int64, what string, is func(telegramtest.Message) bool) telegramtest.Message {
	w.t.Helper()
	var found telegramtest.Message
	w.api.Until("chat shows "+what, func() bool {
		for _, m := range w.api.Messages(chat) {
			if is(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// told waits for the bot's reply to a press.
func (w *world) told(words ...string) {
	w.t.Helper()
	w.api.Until("a press is told "+strings.Join(words, ", "), func() bool {
		for _, toast := range w.api.Toasts() {
			if hasAll(toast.Text, words) {
				return true
			}
		}
		return false
	})
}

// quiet waits until every message to the bot is processed and answered.
func (w *world) quiet(chat int64, messages int) {
	w.t.Helper()
	w.api.Until("the chat is complete", func() bool { return len(w.api.Messages(chat)) >= messages && w.api.Pending() == 0 })
}

const (
	price = "what is the stock price of Apple"
	alert = "set an alert for AAPL above 250"
)
