package attack_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// revokes ends every key of a person.
func (s *site) revokes(name string) {
	s.t.Helper()
	keys, err := s.root.Keys(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, k := range keys {
		if k.Principal == name {
			if err := s.root.RevokeKey(s.t.Context(), k.ID); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// TestARevocationIsAskedAboutBeforeTheNextWrite: two writes are approved, the first
// is under way, and somebody is revoked before the second is sent.
func TestARevocationIsAskedAboutBeforeTheNextWrite(t *testing.T) {
	t.Parallel()
	for _, revoked := range []string{"otto", "alice"} {
		t.Run(revoked, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			alice, otto, paul := s.person("alice", "operator"), s.person("otto", "approver"), s.person("paul", "approver")
			release := s.vault.holds()
			defer release()
			run := s.two(alice, call("vault.note", toAlice), call("vault.note", map[string]any{"account": "acc-2"}))
			for _, gate := range s.gates(run, 2) {
				s.approves(otto, gate)
			}
			eventually(t, "the first write", func() (bool, bool) { return true, len(s.vault.record()) == 1 })
			s.revokes(revoked)
			release()
			again := s.gate(run)
			if len(s.vault.record()) != 1 {
				t.Fatalf("the second write was sent: %+v", s.vault.record())
			}
			if !strings.Contains(again.Reason, revoked) || !strings.Contains(again.Reason, "revoked") {
				t.Errorf("the new gate does not say why: %q", again.Reason)
			}
			s.approves(paul, again)
			s.ended(run)
			if len(s.vault.record()) != 2 {
				t.Errorf("done: %+v", s.vault.record())
			}
		})
	}
}

// TestARevokedKeyHearsNoMoreOfAChat: an answer that is streamed ends with the key.
func TestARevokedKeyHearsNoMoreOfAChat(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *app.Config) { c.Heartbeat = 20 * time.Millisecond })
	release := s.vault.holds()
	defer release()
	alice, otto := s.keyOf("alice", "operator"), s.person("otto", "approver")
	for name, path := range map[string]string{"a run": "/v1/runs/", "a session": "/v1/sessions/"} {
		run := s.asks(s.with(alice), "vault.note", toAlice)
		s.approves(otto, s.gate(run))
		view, err := s.root.Run(t.Context(), run, client.Opt{})
		if err != nil {
			t.Fatal(err)
		}
		id := run
		if name == "a session" {
			id = view.SessionID
		}
		lines := s.streams(alice, http.MethodGet, path+id+"/stream", "")
		s.revokes("alice")
		ended(t, name, lines)
		alice = s.keyOf("alice", "operator")
	}
	s.talks(alice, "X-OpenWebUI-Chat-Id: c1").says("hello")
	begun, err := s.with(alice).Sessions(t.Context(), time.Time{}, 1)
	if err != nil || len(begun) == 0 {
		t.Fatalf("the chat has no session: %v", err)
	}
	run, err := s.runs(s.with(alice), contracts.RunPlan{SessionID: begun[0].SessionID}, "vault.note", toAlice)
	if err != nil {
		t.Fatal(err)
	}
	s.approves(otto, s.gate(run))
	lines := s.streams(alice, http.MethodPost, "/v1/chat/completions", `{"model":"manifold","stream":true,"messages":[{"role":"user","content":"status"}]}`, "X-OpenWebUI-Chat-Id: c1")
	s.revokes("alice")
	ended(t, "a chat", lines)
}

// ended waits until a stream is over.
func ended(t *testing.T, name string, lines <-chan string) {
	t.Helper()
	over := time.After(patience)
	for {
		select {
		case _, more := <-lines:
			if !more {
				return
			}
		case <-over:
			t.Fatalf("the stream of %s goes on", name)
		}
	}
}

// streams begins a stream and returns its lines.
func (s *site) streams(key, method, path, body string, headers ...string) <-chan string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // the goroutine closes it
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %v %v", method, path, res, err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		defer func() { _ = res.Body.Close() }()
		for scan := bufio.NewScanner(res.Body); scan.Scan(); {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

func few(c *app.Config) { c.SessionsPerMinute, c.SessionBurst = 6, 1 }

func TestInventedPersonsAreLimitedTogether(t *testing.T) {
	t.Parallel()
	s := open(t, few)
	front := s.frontend("operator")
	for n := range 30 {
		got := s.sends(front, http.MethodPost, "/v1/sessions", map[string]any{"message": "hello"}, fmt.Sprintf("Manifold-User: person%d", n))
		switch {
		case got.status == http.StatusTooManyRequests && strings.Contains(got.body, "front end"):
			return
		case got.status != http.StatusCreated:
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	t.Error("30 invented persons have begun 30 sessions")
}

func TestMessagesInASessionAreLimited(t *testing.T) {
	t.Parallel()
	s := open(t, few)
	alice := s.person("alice", "operator")
	session, err := alice.StartSession(t.Context(), contracts.StartSession{Message: "hello"}, client.Opt{})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := alice.Say(t.Context(), session.SessionID, "hello again", client.Opt{}); contracts.CodeOf(err) == contracts.CodeRateLimited {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("30 messages were taken at once")
}

// TestABodyThatDoesNotComeEnds: who sends a byte now and then holds nothing.
func TestABodyThatDoesNotComeEnds(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *app.Config) { c.ReadTimeout = 300 * time.Millisecond })
	key := s.keyOf("alice", "operator")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", key); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection is still open: %v", err)
	}
}
