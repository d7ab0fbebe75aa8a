package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestServerAndDomainsRunAsProcesses starts the shipped Workday domain with its sandbox, an example
// domain and the server from a bootstrap file, and waits until both domains are active.
func TestServerAndDomainsRunAsProcesses(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it builds and starts five programs")
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "./cmd/manifold", "./domains/workday/...", "./examples/cmd/...")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := freeAddr(t)
	bootstrap := filepath.Join(dir, "domains.json")
	body := fmt.Sprintf(`{"domains": [{"domain": "finance", "url": "http://%s"}, {"domain": "workday", "url": "http://%s"}, {"domain": "elsewhere", "url": "http://%s"}]}`, freeAddr(t), freeAddr(t), freeAddr(t))
	if err := os.WriteFile(bootstrap, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var out lines
	ended := make(chan error, 1)
	data := filepath.Join(dir, "data")
	go func() {
		ended <- run(ctx, []string{"-bin", dir, "-data", data, "-addr", server, "-bootstrap", bootstrap}, func(string) string { return "" }, &out)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
	awaitActive(t, filepath.Join(data, "server", "client.json"), ended, &out)
	if !strings.Contains(out.String(), "elsewhere"+strings.Repeat(" ", 20)+"is not shipped here") {
		t.Errorf("it says\n%s", out.String())
	}
}

func TestWhatIsNoBootstrapFileIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "domains.json")
	if err := os.WriteFile(file, []byte(`{"domain": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-bootstrap", file}, func(string) string { return "" }, &lines{}); err == nil || !strings.Contains(err.Error(), "domains.json") {
		t.Errorf("%v", err)
	}
}

// awaitActive polls the server until two domains are active.
func awaitActive(t *testing.T, file string, ended chan error, out *lines) {
	t.Helper()
	deadline, tick := time.After(3*time.Minute), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for {
		if active(t, file) == 2 {
			return
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("it ended: %v\n%s", err, out.String())
		case <-deadline:
			t.Fatalf("it does not come up:\n%s", out.String())
		case <-tick.C:
		}
	}
}

// active returns the number of active domains; the server may not run yet.
func active(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	var cfg struct{ URL, Key string }
	if json.Unmarshal(raw, &cfg) != nil {
		return 0
	}
	c, err := client.New(client.Config{URL: cfg.URL, Key: cfg.Key})
	if err != nil {
		t.Fatal(err)
	}
	domains, err := c.Domains(t.Context())
	if err != nil {
		return 0
	}
	n := 0
	for _, d := range domains {
		if d.Outcome == contracts.DomainActive {
			n++
		}
	}
	return n
}

func freeAddr(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// lines is an output that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
