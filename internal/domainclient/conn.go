package domainclient

import (
	"net"
	"net/http/httptrace"
	"sync"
)

// trackedConn records whether a write began since the connection was assigned to a request.
type trackedConn struct {
	net.Conn

	mu     sync.Mutex // guards the fields below
	begun  bool
	sealed bool
}

// Write records that bytes may be sent, then writes them.
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

// mark starts the tracking of a new request.
func (c *trackedConn) mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = false
}

// seal reports whether nothing was written since mark. If so, all later writes fail, including
// one that the transport has already started.
func (c *trackedConn) seal() (unsent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return false
	}
	c.sealed = true
	return true
}

// exchange tracks one request through the transport.
type exchange struct {
	mu     sync.Mutex // guards the fields below
	conn   *trackedConn
	opaque bool // the transport used an untracked connection
	reused bool
}

// trace returns the client trace to add to the request's context.
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

// unsent reports, after an error, whether certainly no byte of the request was written.
func (x *exchange) unsent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.opaque:
		return false
	case x.conn == nil:
		return true // no connection was used
	default:
		return x.conn.seal()
	}
}

// stale reports whether the request failed on a dead kept-alive connection before a byte was
// written.
func (x *exchange) stale() bool {
	if !x.unsent() {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reused
}
