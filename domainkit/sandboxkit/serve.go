package sandboxkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Serve listens on addr, prints access(url) as JSON for clients, and serves the sandbox until ctx
// ends. Running requests then have 5 s to finish.
func Serve(ctx context.Context, addr string, sandbox http.Handler, stdout io.Writer, access func(url string) any) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(access("http://" + listener.Addr().String())); err != nil {
		_ = listener.Close() // no client knows the address yet
		return fmt.Errorf("print the address: %w", err)
	}
	return serve(ctx, listener, sandbox)
}

func serve(ctx context.Context, listener net.Listener, sandbox http.Handler) error {
	server := &http.Server{Handler: sandbox, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}
