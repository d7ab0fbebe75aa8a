package domainclient

import (
	"errors"
	"net"
	"net/http/httptrace"
	"testing"
)

// sink is a connection that discards everything.
type sink struct {
	net.Conn
	got []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.got = append(s.got, p...)
	return len(p), nil
}

func TestExchangeKnowsWhatWasSent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		use    func(x *exchange)
		unsent bool
		stale  bool
	}{
		"no connection was ever there": {func(*exchange) {}, true, false},
		"a fresh connection that nothing was written to": {func(x *exchange) {
			x.gotConn(httptrace.GotConnInfo{Conn: &trackedConn{Conn: &sink{}}})
		}, true, false},
		"a kept-alive connection that was found dead": {func(x *exchange) {
			conn := &trackedConn{Conn: &sink{}, begun: true} // set by the previous request
			x.gotConn(httptrace.GotConnInfo{Conn: conn, Reused: true})
		}, true, true},
		"a connection that got a byte": {func(x *exchange) {
			conn := &trackedConn{Conn: &sink{}}
			x.gotConn(httptrace.GotConnInfo{Conn: conn, Reused: true})
			_, _ = conn.Write([]byte("P"))
		}, false, false},
		"a connection that cannot be followed": {func(x *exchange) {
			x.gotConn(httptrace.GotConnInfo{Conn: &sink{}, Reused: true})
		}, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &exchange{}
			tt.use(x)
			if x.unsent() != tt.unsent || x.stale() != tt.stale {
				t.Errorf("unsent %v, stale %v; want %v, %v", x.unsent(), x.stale(), tt.unsent, tt.stale)
			}
		})
	}
}

func TestNothingIsWrittenAfterItWasCalledUnsent(t *testing.T) {
	t.Parallel()
	under := &sink{}
	conn := &trackedConn{Conn: under}
	x := &exchange{}
	x.gotConn(httptrace.GotConnInfo{Conn: conn})
	if !x.unsent() {
		t.Fatal("nothing was written yet")
	}
	if _, err := conn.Write([]byte("late")); !errors.Is(err, net.ErrClosed) || len(under.got) != 0 {
		t.Errorf("a late write got through: %q, %v", under.got, err)
	}
}
