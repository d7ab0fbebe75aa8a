package mcp

import (
	"context"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/manifold-run/manifold/contracts"
)

// maxAtOnce bounds the reads of one session at once.
const maxAtOnce = 64

// askingSince is the version since which what a tool asks is part of its answer. Before,
// a server asks while the call is under way, and does not say which call that is.
const askingSince = "2026-07-28"

// session is a connection to a server, with the calls that it may ask about while they
// are under way. A write is then alone on it, so that what is asked is known to be asked
// by the write.
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

// flight is one call that is under way.
type flight struct {
	// answered are the answers of people, by what was asked.
	answered map[string]*sdk.ElicitResult
	// asked is what the server has asked that nobody has answered.
	asked []*sdk.ElicitParams
	// unclear means that something was asked while several calls were under way.
	unclear bool
}

// begin waits until a call may begin, and gives what ends it.
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

// asked answers what a server asks while a call is under way: as a person has answered
// it before, else that nobody is there now. Then the person is asked, and the call made
// again.
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

// result returns the result of a flight that has ended.
func (s *session) result(f *flight) (asked []*sdk.ElicitParams, unclear bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.asked, f.unclear
}
