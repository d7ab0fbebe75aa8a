package domainclient

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// serveInProcess makes a transport connect to a handler in this process, for any address, and
// returns a function that ends it. open is called for the first connection. The handler is served
// over HTTP, so that all rules for domains apply to it.
func serveInProcess(t *http.Transport, open func() (http.Handler, func())) (end func()) {
	ways := &pipeListener{made: make(chan net.Conn), done: make(chan struct{})}
	var once sync.Once
	var closing func()
	server := &http.Server{ReadHeaderTimeout: time.Minute}
	start := func() {
		server.Handler, closing = open()
		go func() { _ = server.Serve(ways) }() // returns ErrServerClosed
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
		once.Do(func() {}) // prevents a later start
		_ = ways.Close()
		if closing != nil {
			closing()
			_ = server.Close() // closes in-process connections without an error
		}
	}
}

// pipeListener is a net.Listener for in-memory connections.
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

// Accept returns the next connection, or net.ErrClosed after Close.
func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-p.made:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close closes the listener and makes later dials fail.
func (p *pipeListener) Close() error {
	p.close.Do(func() { close(p.done) })
	return nil
}

// Addr returns a placeholder.
func (p *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

// Network returns "pipe".
func (pipeAddr) Network() string { return "pipe" }

// String returns a placeholder.
func (pipeAddr) String() string { return "within" }
