package conversations

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// declined returns the answer of a model that declines a message: the server then uses its local
// reading.
func declined() scripted.Answer {
	return scripted.Answer{Text: "There is no expectation for this.", Fault: scripted.FaultRefusal}
}

// ModelMetrics counts the requests to a model under test.
type ModelMetrics struct {
	Requests int `json:"requests"`
	// Known counts the requests of turns with an expectation.
	Known int `json:"known"`
	// Declined counts the requests that were left to the local reader.
	Declined int `json:"declined"`
	// Wanted counts the expected capabilities, and Recall is the percentage of them that was offered.
	Wanted int     `json:"wanted,omitempty"`
	Recall float64 `json:"recall,omitempty"`
	// NotOffered lists the expected capabilities that were not offered, with their conversation.
	NotOffered []string `json:"not_offered,omitempty"`
}

// script is a set as the models use it: it finds the turn of a request. It is safe for concurrent use.
type script struct {
	items []conversation.Item

	mu      sync.Mutex // guards figures
	figures ModelMetrics
}

// place is a turn of a conversation.
type place struct {
	item conversation.Item
	turn int
}

// find returns the turn of a request. If several conversations have the same message, it is the one
// whose earlier turns occur in the request.
func (s *script) find(asked scripted.Asked) (place, bool) {
	last := strings.TrimSpace(asked.Last())
	var best place
	found, score := false, -1
	for _, i := range s.items {
		for n, turn := range i.Turns {
			if turn == conversation.TurnApprove || !says(last, turn) {
				continue
			}
			if points := history(asked, i.Turns[:n]); points > score {
				best, found, score = place{i, n}, true, points
			}
		}
	}
	return best, found
}

// says reports whether a prompt is a message, or contains it as a line.
func says(prompt, message string) bool {
	message = strings.TrimSpace(message)
	if prompt == message {
		return true
	}
	return slices.ContainsFunc(strings.Split(prompt, "\n"), func(line string) bool { return strings.TrimSpace(line) == message }) || strings.HasSuffix(prompt, "\n"+message)
}

// history scores how well earlier turns match a request: one point for each that occurs in it, none if
// one is missing or the request has others.
func history(asked scripted.Asked, earlier []string) int {
	points := 0
	for _, turn := range earlier {
		if turn == conversation.TurnApprove {
			continue
		}
		stands := strings.Contains(asked.System, turn)
		for _, t := range asked.Turns {
			stands = stands || strings.Contains(t.Text, turn)
		}
		if !stands {
			return -1
		}
		points++
	}
	people := 0
	for _, t := range asked.Turns {
		if t.Role == "user" {
			people++
		}
	}
	if points == 0 && people > 1 {
		return 0
	}
	return points + 1
}

func (s *script) note(change func(*ModelMetrics)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.figures)
}

// counted counts an answer to a request.
func (s *script) counted(answer scripted.Answer) scripted.Answer {
	s.note(func(f *ModelMetrics) {
		f.Requests++
		if answer.Fault != "" {
			f.Declined++
		} else {
			f.Known++
		}
	})
	return answer
}

func (s *script) seen() ModelMetrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.figures
	if f.Wanted > 0 {
		f.Recall = 100 * float64(f.Wanted-len(f.NotOffered)) / float64(f.Wanted)
	}
	return f
}

// offers reports whether a request offers a function.
func offers(asked scripted.Asked, name string) bool {
	return slices.ContainsFunc(asked.Tools, func(t scripted.Tool) bool { return t.Name == name })
}

// offered returns the tool of a capability.
func offered(asked scripted.Asked, ref string) (scripted.Tool, bool) {
	for _, t := range asked.Tools {
		if t.Name == ref || refOf(t.Name, ref) {
			return t, true
		}
	}
	return scripted.Tool{}, false
}

// refOf reports whether a function name is that of a capability.
func refOf(function, ref string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '_'
		}, s)
	}
	domain, name, ok := cut(ref)
	return ok && function == plain(domain)+"-"+plain(name)
}

// serveModel serves a model locally; stop ends it.
func serveModel(ctx context.Context, addr string, answers scripted.Answerer) (url string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: scripted.New(answers), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	stop = func() error {
		err := server.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
	return "http://" + listener.Addr().String() + "/v1", stop, nil
}
