package mcp

import (
	"context"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/manifold-run/manifold/contracts"
)

// maxAtOnce bounds the concurrent reads of one session.
const maxAtOnce = 64

// askingSince is the protocol version from which questions are part of a tool's result. Before it, a
// server asks during a call, without saying which one.
const askingSince = "2026-07-28"

// session is a connection to a server, with its running calls. If the server asks during calls, a write
// runs alone, so that the questions are known to belong to it.
type session struct {
	*sdk.ClientSession

	asksMeanwhile bool
	turns         *semaphore.Weighted

	mu    sync.Mutex // guards the field below, and the flights
	calls []*flight
}

func newSession(s *sdk.ClientSession) *session {
	r := s.InitializeResult()
	return &session{ClientSession: s, asksMeanwhile: r == nil || r.ProtocolVersion < askingSince, turns: semaphore.NewWeighted(maxAtOnce)}
}

// flight is one running call.
type flight struct {
	// answered are the answers of people, by question.
	answered map[string]*sdk.ElicitResult
	// asked are the server's unanswered questions.
	asked []*sdk.ElicitParams
	// unclear means that a question was asked while several calls were running.
	unclear bool
}

// begin waits until a call may start, and returns a function that ends it.
func (s *session) begin(ctx context.Context, f *flight, alone bool) (end func(), err error) {
	if !s.asksMeanwhile {
		return func() {}, nil
	}
	places := int64(1)
	if alone {
		places = maxAtOnce
	}
	if err := s.turns.Acquire(ctx, places); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = slices.DeleteFunc(s.calls, func(other *flight) bool { return other == f })
		s.turns.Release(places)
	}, nil
}

// asked answers a server's question during a call: with a person's earlier answer, or else with
// "cancel". The person is asked after that, and the call is repeated.
func (s *session) asked(p *sdk.ElicitParams) *sdk.ElicitResult {
	nobody := &sdk.ElicitResult{Action: "cancel"}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 1 {
		for _, f := range s.calls {
			f.unclear = true
		}
		return nobody
	}
	f := s.calls[0]
	if answer := f.answered[digest(p)]; answer != nil {
		return answer
	}
	if len(f.asked) < contracts.MaxInputQuestions {
		f.asked = append(f.asked, p)
	}
	return nobody
}

// result returns the questions of a call that has ended.
func (s *session) result(f *flight) (asked []*sdk.ElicitParams, unclear bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.asked, f.unclear
}
