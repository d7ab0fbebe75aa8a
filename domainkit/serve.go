package domainkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Run serves the domain on addr until ctx ends. It then refuses new work, waits for running work up
// to Config.ShutdownGrace and cancels the rest.
func (s *Service) Run(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	return s.Serve(ctx, listener)
}

// Serve is like Run, on a listener of the caller. It closes the listener.
func (s *Service) Serve(ctx context.Context, listener net.Listener) error {
	handler, err := s.Handler()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: handler,
		// The timeouts keep slow clients from holding connections. The longest legitimate exchange
		// is a 202 after a large upload.
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.log.InfoContext(ctx, "domain is serving", slog.String("address", listener.Addr().String()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return s.stop(ctx, server)
}

func (s *Service) stop(ctx context.Context, server *http.Server) error {
	// ctx has ended; the shutdown has a timeout of its own.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownGrace)
	defer cancel()
	s.log.InfoContext(ctx, "domain is stopping")
	workErr := s.Shutdown(grace)
	if err := server.Shutdown(grace); err != nil {
		return errors.Join(workErr, err, server.Close())
	}
	return workErr
}

// Shutdown refuses new work with 429 and waits for running work. If ctx ends first, it cancels the
// rest and returns an error. It may be called twice.
func (s *Service) Shutdown(ctx context.Context) error {
	return s.executor.running.stop(ctx)
}
