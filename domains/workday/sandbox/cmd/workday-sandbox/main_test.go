package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func TestTheCommandPrintsWhatAClientNeeds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--addr", "127.0.0.1:0", "--workers", "60", "--now", "2026-11-02", "--approvals", "none", "--quiet"}, os.Getenv, in, io.Discard)
		_ = in.Close()
	}()
	var printed struct {
		URL         string              `json:"url"`
		Credentials sandbox.Credentials `json:"credentials"`
	}
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&printed); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, printed.URL+"/__sandbox/people", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var people []sandbox.Worker
	if err := json.NewDecoder(res.Body).Decode(&people); err != nil {
		t.Fatal(err)
	}
	if len(people) != 60 || printed.Credentials.RefreshToken == "" {
		t.Errorf("%d people, credentials %v", len(people), printed.Credentials)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("after the stop: %v", err)
	}
}

func TestFaultyFlagsAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		says string
	}{
		"a date that is none":   {[]string{"--now", "tomorrow"}, "clock"},
		"too few people":        {[]string{"--workers", "3"}, "at least"},
		"an address of nowhere": {[]string{"--addr", "nowhere:no"}, "listen"},
		"an unknown flag":       {[]string{"--nope"}, "nope"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), tt.args, os.Getenv, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one about %q", err, tt.says)
			}
		})
	}
}
