package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

// restateEngine starts a server. The service is in the requesting program, at an address that stays
// the same after a restart of both.
func restateEngine(_ context.Context, dir, domain string) (*running, error) {
	binary := os.Getenv("RESTATE")
	if binary == "" {
		return nil, errors.New("RESTATE names no restate-server")
	}
	file := filepath.Join(dir, "addresses")
	known, err := os.ReadFile(file)
	at := strings.Fields(string(known))
	if err != nil {
		for range 4 {
			free, err := freePort()
			if err != nil {
				return nil, err
			}
			at = append(at, free)
		}
		if err := os.WriteFile(file, []byte(strings.Join(at, " ")), 0o600); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(binary, "--no-logo", "--listen-mode", "tcp", "--base-dir", filepath.Join(dir, "restate"))
	cmd.Env = append(os.Environ(), "RESTATE_INGRESS__BIND_ADDRESS="+at[0], "RESTATE_ADMIN__BIND_ADDRESS="+at[1], "RESTATE_BIND_ADDRESS="+at[2], "RUST_LOG=error")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &running{self("restate", strings.Join(at, " "), domain), []*exec.Cmd{cmd}},
		errors.Join(ready("http://"+at[0]+"/restate/health"), ready("http://"+at[1]+"/health"))
}

// Gauges is the service; the first program that starts it registers its address.
type Gauges struct{}

// Read reads ten gauges, each in its own step.
func (Gauges) Read(ctx restate.Context, in input) (int, error) {
	var pending []restate.RunAsyncFuture[int]
	for _, name := range gauges(in.Hold) {
		pending = append(pending, restate.RunAsync(ctx, func(ctx restate.RunContext) (int, error) { return read(ctx, in.Domain, name) }))
	}
	sum := 0
	for _, p := range pending {
		value, err := p.Result()
		if err != nil {
			return 0, err
		}
		sum += value
	}
	return sum, nil
}

func inRestate(what, addresses, domain string) (func() error, error) {
	at := strings.Fields(addresses)
	served := make(chan error, 1)
	go func() {
		served <- server.NewRestate().WithLogger(slog.DiscardHandler, false).Bind(restate.Reflect(Gauges{})).Start(context.Background(), at[3])
	}()
	post := func(url string, body any) error {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		res, err := web.Post(url, "application/json", bytes.NewReader(raw)) //nolint:noctx // of this program
		if err != nil {
			return err
		}
		defer res.Body.Close()
		out, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode >= http.StatusBadRequest {
			err = fmt.Errorf("%s: %s", res.Status, out)
		}
		return err
	}
	if what == "resume" {
		return func() error { time.Sleep(90 * time.Second); return nil }, nil
	}
	var err error
	if late := until(20*time.Second, func() bool {
		err = post("http://"+at[1]+"/deployments", map[string]any{"uri": "http://" + at[3], "force": true})
		return err == nil
	}); late != nil {
		return nil, err
	}
	return func() error {
		select {
		case err := <-served:
			return err
		default:
			return post("http://"+at[0]+"/Gauges/Read", input{domain, what == "hold"})
		}
	}, nil
}
