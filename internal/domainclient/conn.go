package domainclient

import (
	"net"
	"net/http/httptrace"
	"sync"
)

// trackedConn knows whether a write was begun since the connection was handed
// to a request.
type trackedConn struct {
	net.Conn

	mu     sync.Mutex // guards the fields below
	begun  bool
	sealed bool
}

// Write notes that bytes may have left before it lets them.
func (c *trackedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	c.begun = true
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// mark begins a new request.
func (c *trackedConn) mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = false
}

// seal reports whether nothing was written since mark, and if so makes sure that
// nothing will be: a write that the transport has still under way fails.
func (c *trackedConn) seal() (unsent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return false
	}
	c.sealed = true
	return true
}

// exchange follows one request through the transport.
type exchange struct {
	mu     sync.Mutex // guards the fields below
	conn   *trackedConn
	opaque bool // the transport used a connection that cannot be followed
	reused bool
}

// trace is to be put into the request's context.
func (x *exchange) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: x.gotConn}
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn, x.reused = nil, info.Reused
	conn := info.Conn
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = wrapped.NetConn()
	}
	tracked, ok := conn.(*trackedConn)
	x.opaque = !ok
	if ok {
		tracked.mark()
		x.conn = tracked
	}
}

// unsent tells, after an error, whether no byte of the request was written.
// When in doubt it says no.
func (x *exchange) unsent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.opaque:
		return false
	case x.conn == nil:
		return true // there never was a connection
	default:
		return x.conn.seal()
	}
}

// stale reports whether the request found a dead kept-alive connection.
func (x *exchange) stale() bool {
	if !x.unsent() {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reused
}
