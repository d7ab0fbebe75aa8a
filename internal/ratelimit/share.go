package ratelimit

import "sync/atomic"

// Share is the share of one of several servers in common limits. Each server counts for itself,
// and the shares add up to the limit. The zero value and nil stand for the whole limit. It is
// safe for concurrent use.
type Share struct{ of atomic.Uint64 }

// Set sets the number of servers and the index of this one among them, from 0.
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

// Servers returns the number of servers, at least 1.
func (s *Share) Servers() int {
	_, servers := s.get()
	return servers
}

// Places returns this server's share of a number of slots. It is 0 if there are fewer slots than
// servers and none is left for this one.
func (s *Share) Places(limit int) int {
	place, servers := s.get()
	part := limit / servers
	if place < limit%servers {
		part++
	}
	return part
}

// Strictly returns this server's share of a limit that must not be exceeded in any minute. With
// fewer calls per minute than servers it holds only on average: each server waits proportionally
// longer between two calls.
func (s *Share) Strictly(perMinute int) Limit {
	if part := s.Places(perMinute); part > 0 && perMinute >= s.Servers() {
		return Strict(part)
	}
	return Limit{PerMinute: float64(perMinute) / float64(s.Servers()), Burst: 1}
}

// Of returns this server's share of a limit. The burst is at least 1.
func (s *Share) Of(l Limit) Limit {
	servers := s.Servers()
	if servers == 1 {
		return l
	}
	return Limit{PerMinute: l.PerMinute / float64(servers), Burst: max(s.Places(l.Burst), 1)}
}
