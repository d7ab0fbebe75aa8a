package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func server(t *testing.T) (*sandbox.Server, map[string]string) {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	return s, map[string]string{
		"FLOWISE_INSTANCES": `[{"id":"dev","endpoint":"` + front.URL + `","api_key":"env:DEV_KEY"}]`, "DEV_KEY": s.Key(),
	}
}

func TestADryRunGivesTheSameBytesTwiceAndKeepsNothing(t *testing.T) {
	t.Parallel()
	s, memory := server(t)
	s.AddCredential("Team key", "openAIApi")
	for name, env := range map[string]map[string]string{"sandbox": memory, "real": realEnvironment()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if env["FLOWISE_URL"] == "" && env["FLOWISE_INSTANCES"] == "" {
				absent(t)
			}
			data := filepath.Join(t.TempDir(), "data.db")
			for _, what := range []string{"nodes", "templates", "credentials"} {
				var first, second, report bytes.Buffer
				for _, out := range []*bytes.Buffer{&first, &second} {
					report.Reset()
					if err := run(t.Context(), []string{"refresh", what, "--dry-run", "--data", data}, environment(env), out, &report); err != nil {
						t.Fatal(err)
					}
				}
				if first.Len() == 0 || !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Errorf("%s: %d and %d bytes", what, first.Len(), second.Len())
				}
				if strings.Contains(first.String(), "U2FsdGVkX1") {
					t.Errorf("%s: the snapshot holds a secret", what)
				}
				if what == "templates" && !strings.Contains(report.String(), "added") {
					t.Errorf("%s: after a dry run nothing is new: %s", what, report.String())
				}
			}
		})
	}
}

// realEnvironment returns the environment of the real server, if there is one.
func realEnvironment() map[string]string {
	return map[string]string{"FLOWISE_URL": os.Getenv("FLOWISE_URL"), "FLOWISE_KEY": os.Getenv("FLOWISE_KEY")}
}

// absent skips a test that needs a real server, or fails if one is required.
func absent(t *testing.T) {
	t.Helper()
	if os.Getenv("REQUIRE_FLOWISE") == "1" {
		t.Fatal("REQUIRE_FLOWISE is set, but FLOWISE_URL is not")
	}
	t.Skip("FLOWISE_URL names no server")
}

func TestWhatWasRefreshedIsKeptAndValid(t *testing.T) {
	t.Parallel()
	s, env := server(t)
	s.AddCredential("Team key", "openAIApi")
	data := filepath.Join(t.TempDir(), "data.db")
	for _, what := range []string{"nodes", "templates", "credentials"} {
		var report bytes.Buffer
		for range 2 {
			report.Reset()
			if err := run(t.Context(), []string{"refresh", what, "--data", data}, environment(env), io.Discard, &report); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(report.String(), "added") {
			t.Errorf("%s: the second refresh finds something new: %s", what, report.String())
		}
		if err := run(t.Context(), []string{"refresh", "--validate", "--data", data, what}, environment(env), io.Discard, io.Discard); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTheCommandServesUntilItIsStopped(t *testing.T) {
	t.Parallel()
	_, env := server(t)
	dir := t.TempDir()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--listen", addr, "--data", filepath.Join(dir, "data.db"), "--keys", filepath.Join(dir, "keys.db")}, environment(env), io.Discard, io.Discard)
	}()
	waitFor(t, "http://"+addr+"/health")
	stop()
	if err := <-done; err != nil {
		t.Errorf("after the stop: %v", err)
	}
}

func waitFor(t *testing.T, url string) {
	t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			return
		}
		select {
		case <-deadline:
			t.Fatal("the service never answered")
		case <-tick.C:
		}
	}
}

func TestFaultyOptionsAreRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	_, env := server(t)
	tests := map[string]struct {
		args []string
		env  map[string]string
		says string
	}{
		"no server":                  {nil, nil, "no Flowise"},
		"a key that is not there":    {nil, map[string]string{"FLOWISE_INSTANCES": env["FLOWISE_INSTANCES"]}, "DEV_KEY"},
		"a policy nobody knows":      {[]string{"--drift", "shrug"}, env, "shrug"},
		"a key file that is missing": {[]string{"--url", "http://x", "--key-file", "/nowhere"}, nil, "read key"},
		"something else to refresh":  {[]string{"refresh", "weather"}, env, "weather"},
		"a flag that does not exist": {[]string{"--nope"}, env, "nope"},
		"an instance nobody knows":   {[]string{"refresh", "nodes", "--instance", "prod"}, env, "prod"},
		"an unknown one to check":    {[]string{"refresh", "nodes", "--validate", "--instance", "prod"}, env, "prod"},
		"data where no file can be":  {[]string{"--data", "/nowhere/data.db"}, env, "data.db"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), tt.args, environment(tt.env), io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one about %q", err, tt.says)
			}
		})
	}
}

// TestExportWritesTheFlowsOfEachServer deterministically; with several servers each has a folder.
func TestExportWritesTheFlowsOfEachServer(t *testing.T) {
	t.Parallel()
	const graph = `{"nodes":[],"edges":[],"viewport":{"x":0,"y":0,"zoom":1}}`
	dev, env := server(t)
	production, other := server(t)
	dev.AddFlow("Support Bot", "CHATFLOW", graph)
	dev.AddFlow("HR / Leave", "CHATFLOW", graph)
	production.AddFlow("Support Bot", "CHATFLOW", graph)
	several := maps.Clone(env)
	several["FLOWISE_INSTANCES"] = strings.TrimSuffix(env["FLOWISE_INSTANCES"], "]") + "," +
		strings.Replace(strings.TrimPrefix(other["FLOWISE_INSTANCES"], "["), `"dev"`, `"production"`, 1)
	for name, tt := range map[string]struct {
		env   map[string]string
		files int
		says  []string
		one   string
	}{
		"one server":      {env, 2, []string{"dev: 2 flows"}, "Support-Bot.json"},
		"several servers": {several, 3, []string{"dev: 2 flows", "production: 1 flows"}, "production/Support-Bot.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "flows")
			first := map[string]string{}
			for range 2 {
				var report bytes.Buffer
				if err := run(t.Context(), []string{"export", "--folder", folder}, environment(tt.env), io.Discard, &report); err != nil {
					t.Fatal(err)
				}
				for _, part := range tt.says {
					if !strings.Contains(report.String(), part) {
						t.Errorf("it does not say %q: %s", part, report.String())
					}
				}
				files := filesIn(t, folder)
				if len(first) > 0 && !maps.Equal(files, first) {
					t.Errorf("the second time: %v\n%v", files, first)
				}
				first = files
			}
			if len(first) != tt.files || !strings.Contains(first[tt.one], `"name": "Support Bot"`) {
				t.Errorf("there are %v", first)
			}
		})
	}
	if err := run(t.Context(), []string{"export"}, environment(env), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "--folder") {
		t.Errorf("without a folder: %v", err)
	}
}

// filesIn reads the files of a folder recursively.
func filesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS(folder)
	if err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, path)
		out[path] = string(raw)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
