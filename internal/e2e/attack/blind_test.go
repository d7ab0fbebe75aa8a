package attack_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// talk is one chat of an OpenAI client: its history, as the client keeps it.
type talk struct {
	s       *site
	key     string
	headers []string
	// forgetful drops the markers of answers, as frontends do that rewrite a history.
	forgetful bool
	history   []map[string]string
}

func (s *site) talks(key string, headers ...string) *talk {
	return &talk{s: s, key: key, headers: headers}
}

var markerLine = regexp.MustCompile(`(?m)\n*^\[//\]: # \(manifold .*$`)

// says sends a message with the whole history, and returns the answer.
func (c *talk) says(words string) string {
	c.s.t.Helper()
	c.history = append(c.history, map[string]string{"role": "user", "content": words})
	got := c.s.sends(c.key, http.MethodPost, "/v1/chat/completions", map[string]any{"model": "manifold", "messages": c.history, "stream": false}, c.headers...)
	var answer struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &answer) != nil || len(answer.Choices) != 1 {
		c.s.t.Fatalf("%q: %d %s", words, got.status, got.body)
	}
	text := answer.Choices[0].Message.Content
	kept := text
	if c.forgetful {
		kept = markerLine.ReplaceAllString(text, "")
	}
	c.history = append(c.history, map[string]string{"role": "assistant", "content": kept})
	return text
}

// keyOf makes a key of a person and returns its text.
func (s *site) keyOf(name string, roles ...string) string {
	s.t.Helper()
	return s.key(s.root, contracts.KeySpec{Kind: "user", Principal: name, Roles: roles})
}

// untouched fails if the vault has done anything, or the gate is no longer open.
func (s *site) untouched(gate contracts.Interrupt, after string) {
	s.t.Helper()
	now, err := s.root.Gate(s.t.Context(), gate.InterruptID)
	if err != nil || now.Status != contracts.InterruptOpen || len(now.Decisions) != 0 || len(s.vault.record()) != 0 {
		s.t.Fatalf("after %s: %v, %s", after, err, asJSON(now))
	}
}

func TestAChatApprovesOnlyWhatItHasShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers   []string
		forgetful bool
	}{
		"a history with markers":               {},
		"a chat with an id":                    {headers: []string{"X-OpenWebUI-Chat-Id: chat-1"}},
		"a chat with an id, without a history": {headers: []string{"X-OpenWebUI-Chat-Id: chat-1"}, forgetful: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			alice, otto := s.person("alice", "operator"), s.keyOf("otto", "approver")
			run := s.asks(alice, "vault.pay", map[string]any{"account": "acc-1", "text": "for the boat"})
			gate := s.gate(run)

			listed := s.talks(otto, c.headers...)
			listed.forgetful = c.forgetful
			if text := listed.says("list gates"); !strings.Contains(text, gate.Code) {
				t.Fatalf("the gate is not listed:\n%s", text)
			}
			text := listed.says("approve " + gate.Code)
			s.untouched(gate, "an approval of what was only listed")
			for _, part := range []string{"acc-1", "for the boat", "alice", "approve " + gate.Code} {
				if !strings.Contains(text, part) {
					t.Errorf("the whole action is not shown, %q is missing:\n%s", part, text)
				}
			}
			other := s.talks(otto, "X-OpenWebUI-Chat-Id: chat-2")
			other.says("approve " + gate.Code)
			s.untouched(gate, "an approval in another chat than the one that has shown it")

			listed.says("approve " + gate.Code)
			s.ended(run)
			if len(s.vault.record()) != 1 {
				t.Errorf("the second word, after the whole was shown, did not count: %+v", s.vault.record())
			}
		})
	}
}

// TestAMarkerOfAnotherPersonShowsNothing: what was shown to somebody else was not
// shown to the approver.
func TestAMarkerOfAnotherPersonShowsNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto, paul := s.person("alice", "operator"), s.keyOf("otto", "approver"), s.keyOf("paul", "approver")
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	pauls := s.talks(paul)
	pauls.says("show " + gate.Code)
	ottos := s.talks(otto)
	ottos.history = append(ottos.history, pauls.history...)
	ottos.says("approve " + gate.Code)
	s.untouched(gate, "an approval with the history of somebody else")
}

// TestTheSameRequestAgainIsNoSecondLook: a client that repeats its request has shown
// nobody anything.
func TestTheSameRequestAgainIsNoSecondLook(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.keyOf("otto", "approver")
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	for _, headers := range [][]string{nil, {"X-Stainless-Retry-Count: 0"}, {"X-OpenWebUI-Chat-Id: chat-1", "X-OpenWebUI-User-Message-Id: m1"}} {
		for range 3 {
			s.talks(otto, headers...).says("approve " + gate.Code)
			s.untouched(gate, "the same request again")
		}
	}
}

func TestAnActionThatChangedIsShownAnew(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.keyOf("otto", "approver")
	run := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(run)
	chat := s.talks(otto)
	chat.says("show " + gate.Code)
	if _, err := alice.Decide(t.Context(), gate.InterruptID, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: map[string]any{"account": "acc-666"}}, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	next := s.gate(run)
	chat.says("approve " + gate.Code)
	chat.says("approve")
	s.untouched(next, "an approval of the action before")
	chat.says("approve " + next.Code)
	s.untouched(next, "an approval of a code that was never shown")
}

// TestAMessageOverRESTIsAChat: words are no decision with a hash.
func TestAMessageOverRESTIsAChat(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.person("otto", "approver", "operator")
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	session, err := otto.StartSession(t.Context(), contracts.StartSession{Message: "good morning"}, client.Opt{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := otto.Say(t.Context(), session.SessionID, "approve "+gate.Code, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	s.untouched(gate, "an approval in words of what was not shown")
}

// hiding are characters that show as nothing, or move what stands beside them.
var hiding = []rune{0x200b, 0x200c, 0x200e, 0x202e, 0x2060, 0x2066, 0xfeff, 0x00ad, 0x034f, 0x115f, 0x180e, 0x3164, 0xe0041, 0x2062, 0xfe01, 0xffa0}

func TestWhatHidesTextIsMadeVisible(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.keyOf("otto", "approver")
	for _, r := range hiding {
		gate := s.gate(s.asks(alice, "vault.pay", map[string]any{"account": "acc-1", "text": "to" + string(r) + "day"}))
		text := s.talks(otto).says("show " + gate.Code)
		if strings.ContainsRune(text, r) || strings.Contains(text, "today") {
			t.Errorf("U+%04X hides in what is shown:\n%q", r, text)
		}
	}
}

func TestALongValueIsShownToABoundWithItsHash(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.keyOf("otto", "approver")
	long := strings.Repeat("all is well. ", 4000) + "and pay Mallory"
	gate := s.gate(s.asks(alice, "vault.pay", map[string]any{"account": "acc-1", "text": long}))
	text := s.talks(otto).says("show " + gate.Code)
	if len(text) > 20_000 {
		t.Errorf("the chat shows %d bytes", len(text))
	}
	if hash := contracts.HashBytes([]byte(long)); !strings.Contains(text, hash) || !strings.Contains(text, "manifold gates "+gate.Code) {
		t.Errorf("a cut value comes without its hash %s, or without where it stands whole:\n%s", hash, text)
	}
}
