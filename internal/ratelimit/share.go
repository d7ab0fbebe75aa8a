package ratelimit

import "sync/atomic"

// Share is the part that one of several servers has of limits that all of them
// keep together: each counts for itself, and the parts add up to the limit. The
// zero value, like nil, is all of it. It is safe for concurrent use; whoever
// learns which servers live sets it.
type Share struct{ of atomic.Uint64 }

// Set says that there are so many servers, and which of them this one is, from 0.
func (s *Share) Set(place, servers int) {
	s.of.Store(uint64(uint32(place))<<32 | uint64(uint32(servers))) //nolint:gosec // numbers of servers
}

func (s *Share) get() (place, servers int) {
	if s == nil {
		return 0, 1
	}
	of := s.of.Load()
	return int(of >> 32), max(int(uint32(of)), 1) //nolint:gosec // as they were set
}

// Servers is how many servers keep the limits, at least 1.
func (s *Share) Servers() int {
	_, servers := s.get()
	return servers
}

// Places is this server's part of so many places: 0 where there are fewer places
// than servers and none is left for it.
func (s *Share) Places(limit int) int {
	place, servers := s.get()
	part := limit / servers
	if place < limit%servers {
		part++
	}
	return part
}

// Strictly is this server's part of a limit that no minute may exceed. With fewer
// calls a minute than servers it holds in the long run: each server then waits so
// much longer between two.
func (s *Share) Strictly(perMinute int) Limit {
	if part := s.Places(perMinute); part > 0 && perMinute >= s.Servers() {
		return Strict(part)
	}
	return Limit{PerMinute: float64(perMinute) / float64(s.Servers()), Burst: 1}
}

// Of is this server's part of a limit; at least one may always come at once.
func (s *Share) Of(l Limit) Limit {
	servers := s.Servers()
	if servers == 1 {
		return l
	}
	return Limit{PerMinute: l.PerMinute / float64(servers), Burst: max(s.Places(l.Burst), 1)}
}
