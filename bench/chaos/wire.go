package main

import (
	"context"
	"io"
	"net"
	"sync"
)

// wire is a proxy that can be cut: then its connections end, and new ones are refused until it is
// mended.
type wire struct {
	listener     net.Listener
	network, far string

	mu   sync.Mutex // guards the fields below
	cut  bool
	open map[net.Conn]bool
}

// newWire listens on a new port until it is closed, and forwards to an address.
func newWire(ctx context.Context, network, far string) (*wire, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wire{listener: listener, network: network, far: far, open: map[net.Conn]bool{}}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(context.WithoutCancel(ctx), near)
		}
	}()
	return w, nil
}

func (w *wire) address() string { return w.listener.Addr().String() }

// carry forwards one connection.
func (w *wire) carry(ctx context.Context, near net.Conn) {
	defer near.Close()
	var dialer net.Dialer
	far, err := dialer.DialContext(ctx, w.network, w.far)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.add(near, far) {
		return
	}
	defer w.remove(near, far)
	ended := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // it ends when either side does
		ended <- struct{}{}
	}
	go pass(far, near)
	go pass(near, far)
	<-ended
}

func (w *wire) add(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range ends {
		w.open[c] = true
	}
	return !w.cut
}

func (w *wire) remove(ends ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range ends {
		delete(w.open, c)
	}
}

// sever ends all connections, and refuses new ones until mend.
func (w *wire) sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	for c := range w.open {
		_ = c.Close() // this is intended
	}
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = false
}

func (w *wire) close() error {
	w.sever()
	return w.listener.Close()
}
