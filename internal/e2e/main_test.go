package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/webhook"
)

// childVariable makes this very binary a server process, so that a test can
// kill one without building another.
const childVariable = "MANIFOLD_E2E_CHILD"

func TestMain(m *testing.M) {
	if settings := os.Getenv(childVariable); settings != "" {
		if err := serveChild(settings); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childSettings is what a server process needs to know.
type childSettings struct {
	Dir       string          `json:"dir"`
	Bootstrap json.RawMessage `json:"bootstrap,omitempty"`
}

// serveChild serves until its stdin ends: the process never outlives the test.
func serveChild(settings string) error {
	var s childSettings
	if err := json.Unmarshal([]byte(settings), &s); err != nil {
		return err
	}
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server, err := app.New(ctx, serverConfig(s.Dir, s.Bootstrap, logger))
	if err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "serving", server.URL())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return server.Stop(ctx)
}

// serverConfig is the same for servers in this process and in others. The
// limits per minute are out of the way: tests are faster than people.
func serverConfig(dir string, bootstrap []byte, logger *slog.Logger) app.Config {
	return app.Config{
		Addr: "127.0.0.1:0", DataDir: dir, Bootstrap: bootstrap, Lookup: os.LookupEnv, Logger: logger, Version: "e2e",
		Webhooks: webhook.GuardConfig{AllowLoopback: true}, SessionsPerMinute: 100_000, RequestsPerMinute: 1_000_000,
	}
}
