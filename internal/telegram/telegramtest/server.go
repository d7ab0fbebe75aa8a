package telegramtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The bot of the server.
const (
	Token = "4711:local-test-token"
	BotID = 4711
	Name  = "manifold_test_bot"
)

// Message is one message of the bot, after its edits.
type Message struct {
	ID      int
	Chat    int64
	Thread  int
	ReplyTo int
	HTML    string
	// Text is the visible text.
	Text    string
	Buttons []Button
	// Edits counts the edits of the text.
	Edits int
}

// Button is one button below a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Toast is the bot's reply to the press of a button.
type Toast struct{ ID, Text string }

// Failure is a simulated failure of a method.
type Failure struct {
	Status     int
	Text       string
	RetryAfter int
	// HTML answers with an HTML page, as a proxy does.
	HTML bool
	// After executes the method and then fails.
	After bool
}

// Server is a Bot API. It is safe for concurrent use.
type Server struct {
	t   *testing.T
	web *httptest.Server

	mu       sync.Mutex // guards the fields below
	changed  chan struct{}
	updates  []json.RawMessage // not acknowledged
	nextID   int
	nextNo   int64
	messages []Message
	toasts   []Toast
	failures map[string][]Failure
	held     map[string]chan struct{} // closing a channel releases the held calls of the method
	calls    map[string]int
	times    map[string][]time.Time
	offsets  []int64
	closed   bool
}

// New starts a Bot API that is closed at the end of the test.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{
		t: t, changed: make(chan struct{}), nextID: 100, nextNo: 1000,
		failures: map[string][]Failure{}, held: map[string]chan struct{}{}, calls: map[string]int{}, times: map[string][]time.Time{},
	}
	s.web = httptest.NewServer(s)
	t.Cleanup(func() {
		s.do(func() { s.closed = true })
		s.web.Close()
	})
	return s
}

// URL returns the base URL of the API.
func (s *Server) URL() string { return s.web.URL }

// do changes the state and wakes the goroutines that wait for a change.
func (s *Server) do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Fail makes the next calls of a method fail, one for each failure.
func (s *Server) Fail(method string, failures ...Failure) {
	s.do(func() { s.failures[method] = append(s.failures[method], failures...) })
}

// Heal ends all failures of a method.
func (s *Server) Heal(method string) {
	s.do(func() { delete(s.failures, method) })
}

// Hold blocks the calls of a method until release is called, to simulate a slow Telegram.
func (s *Server) Hold(method string) (release func()) {
	gate := make(chan struct{})
	s.do(func() { s.held[method] = gate })
	return sync.OnceFunc(func() {
		s.do(func() { delete(s.held, method) })
		close(gate)
	})
}

// Push adds an update without a number, and returns its number.
func (s *Server) Push(body map[string]any) int64 {
	s.t.Helper()
	var no int64
	s.do(func() {
		s.nextNo++
		no = s.nextNo
		s.push(no, body)
	})
	return no
}

// Repeat adds an update again under an earlier number.
func (s *Server) Repeat(no int64, body map[string]any) {
	s.t.Helper()
	s.do(func() { s.push(no, body) })
}

func (s *Server) push(no int64, body map[string]any) {
	body = maps.Clone(body)
	body["update_id"] = no
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Errorf("update: %v", err)
	}
	s.updates = append(s.updates, raw)
}

// NewMessageID returns the id for a message of a person.
func (s *Server) NewMessageID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	return s.nextID
}

// Messages returns the messages of a chat, in order.
func (s *Server) Messages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range s.messages {
		if m.Chat == chat {
			out = append(out, m)
		}
	}
	return out
}

// Toasts returns the bot's replies to presses of buttons.
func (s *Server) Toasts() []Toast {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.toasts)
}

// Calls returns the number of calls of a method.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Times returns the times of the calls of a method.
func (s *Server) Times(method string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times[method])
}

// Pending returns the number of unacknowledged updates.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
}

// patience bounds how long a test waits for a condition.
const patience = 60 * time.Second

// Until waits until a condition holds, checking it after each call of the bot.
func (s *Server) Until(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("it never came to this: %s\nmessages: %+v\ntoasts: %+v", what, s.messages, s.toasts)
		}
	}
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, method, _ := strings.Cut(rest, "/")
	if !ok || token != Token {
		s.answer(w, Failure{Status: http.StatusUnauthorized, Text: "Unauthorized"}, nil)
		return
	}
	params := read(r)
	var failure *Failure
	var held chan struct{}
	s.do(func() {
		held = s.held[method]
		s.calls[method]++
		s.times[method] = append(s.times[method], time.Now())
		if f := s.failures[method]; len(f) > 0 {
			failure, s.failures[method] = &f[0], f[1:]
		}
	})
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	if failure != nil && !failure.After {
		s.answer(w, *failure, nil)
		return
	}
	result, fault := s.call(r, method, params)
	switch {
	case fault != nil:
		s.answer(w, *fault, nil)
	case failure != nil:
		s.answer(w, *failure, nil)
	default:
		s.answer(w, Failure{}, result)
	}
}

func (s *Server) answer(w http.ResponseWriter, f Failure, result any) {
	body := map[string]any{"ok": f.Status == 0}
	switch {
	case f.HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte("<html>" + f.Text + "</html>")) // the caller has gone
		return
	case f.Status == 0:
		body["result"] = result
	default:
		body["error_code"], body["description"] = f.Status, f.Text
		if f.RetryAfter > 0 {
			body["parameters"] = map[string]any{"retry_after": f.RetryAfter}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if f.Status != 0 {
		w.WriteHeader(f.Status)
	}
	if json.NewEncoder(w).Encode(body) != nil {
		return // the caller has gone
	}
}

// read parses the parameters of a form or of JSON.
func read(r *http.Request) map[string]string {
	out := map[string]string{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body map[string]json.RawMessage
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			for name, value := range body {
				out[name] = strings.Trim(string(value), `"`)
			}
		}
		return out
	}
	r.Body = http.MaxBytesReader(nil, r.Body, 1<<20)
	if r.ParseMultipartForm(1<<20) == nil { //nolint:gosec // the line above bounds it
		for name, values := range r.MultipartForm.Value {
			out[name] = values[0]
		}
	}
	return out
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
