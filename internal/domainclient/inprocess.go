package domainclient

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// serveInProcess makes a transport reach a handler of this process, whatever the
// address, and returns what ends it. The handler is made when it is first called. It is
// served over HTTP all the same, so that all that holds for a domain holds for it.
func serveInProcess(t *http.Transport, open func() (http.Handler, func())) (end func()) {
	ways := &pipeListener{made: make(chan net.Conn), done: make(chan struct{})}
	var once sync.Once
	var closing func()
	server := &http.Server{ReadHeaderTimeout: time.Minute}
	start := func() {
		server.Handler, closing = open()
		go func() { _ = server.Serve(ways) }() // it ends with ErrServerClosed
	}
	t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		once.Do(start)
		conn, err := ways.dial(ctx)
		if err != nil {
			return nil, err
		}
		return &trackedConn{Conn: conn}, nil
	}
	return func() {
		once.Do(func() {}) // nothing begins any more
		_ = ways.Close()
		if closing != nil {
			closing()
			_ = server.Close() // connections in the process are cut without an error
		}
	}
}

// pipeListener accepts in-memory connections.
type pipeListener struct {
	made  chan net.Conn
	done  chan struct{}
	close sync.Once
}

func (p *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.made <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection.
func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-p.made:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close ends all dials.
func (p *pipeListener) Close() error {
	p.close.Do(func() { close(p.done) })
	return nil
}

// Addr names the process.
func (p *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

// Network is that of pipeListener.
func (pipeAddr) Network() string { return "pipe" }

// String names no place.
func (pipeAddr) String() string { return "within" }
