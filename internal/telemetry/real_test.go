package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// otherPrograms skips a test that needs other programs, unless `make test-telemetry` runs it.
func otherPrograms(t *testing.T) {
	t.Helper()
	if os.Getenv("TELEMETRY") == "" {
		t.Skip(`it starts other programs; "make test-telemetry" runs it`)
	}
}

// free returns an unused address.
func free(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// program is a process that runs during the test.
type program struct {
	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *program) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// begin starts a program and waits until it is ready. The program is interrupted at the end of
// the test.
func begin(t *testing.T, ready string, command ...string) *program {
	t.Helper()
	p := &program{}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = p, p
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Errorf("%s does not end", command[0])
			_ = cmd.Process.Kill()
		}
	})
	within(t, p, ready+" is listened to", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ready)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return p
}

// within waits until a condition holds.
func within(t *testing.T, p *program, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it does not hold that %s; the program says:\n%s", what, p)
		}
	}
}

// TestARealCollectorReceivesWhatAServerSends exports by both protocols to an OpenTelemetry
// Collector and checks its output.
func TestARealCollectorReceivesWhatAServerSends(t *testing.T) {
	otherPrograms(t)
	collector := filepath.Join(t.TempDir(), "otelcol")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../tools/otelcol", "-o", collector, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			grpc, web := free(t), free(t)
			config := filepath.Join(t.TempDir(), "otelcol.yaml")
			if err := os.WriteFile(config, fmt.Appendf(nil, collectorConfig, grpc, web), 0o600); err != nil {
				t.Fatal(err)
			}
			at := map[string]string{"grpc": grpc, "http/protobuf": web}[protocol]
			got := begin(t, at, collector, "--config", config)
			s := start(t, map[string]string{
				"OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_EXPORTER_OTLP_INSECURE": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + at,
			})
			const caller = "0af7651916cd43dd8448eb211c80319c"
			run := s.asked(t, "00-"+caller+"-b7ad6b7169203331-01")
			apptest.Stop(t, s.server)
			for _, want := range []string{
				spanOf(caller, "POST /v1/sessions"), spanOf(caller, "chat tiny"), spanOf(caller, "submit run"),
				spanOf(run.TraceID, "run"), spanOf(run.TraceID, "step "+run.Nodes[0].Tool), spanOf(run.TraceID, "execute_tool "+run.Nodes[0].Tool), spanOf(run.TraceID, "HTTP POST"),
				`-> Name: manifold\.run\.machine\.duration\n`, `-> Name: manifold\.domain\.call\.duration\n`, `-> Name: manifold\.safety\.violations\n`,
				`-> Name: http\.server\.request\.duration\n`, `-> Name: gen_ai\.client\.token\.usage\n`, `-> service\.name: Str\(manifold\)\n`,
				`-> gen_ai\.usage\.input_tokens: Int\(101\)\n`,
			} {
				pattern := regexp.MustCompile(want)
				within(t, got, "the collector has "+want, func() bool { return pattern.MatchString(got.String()) })
			}
		})
	}
}

const collectorConfig = `
receivers: {otlp: {protocols: {grpc: {endpoint: "%s"}, http: {endpoint: "%s"}}}}
exporters: {debug: {verbosity: detailed, use_internal_logger: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [debug]}
    metrics: {receivers: [otlp], exporters: [debug]}
`

// spanOf returns a span in the output format of the collector.
func spanOf(trace, name string) string {
	return `Trace ID +: ` + trace + `\n +Parent ID +:[^\n]*\n +ID +:[^\n]*\n +Name +: ` + regexp.QuoteMeta(name) + `\n`
}

// TestARealPrometheusShowsTheDashboard lets Prometheus scrape a server and evaluates the queries
// of the dashboard. With PICTURES=DIR and a Chromium, it saves a screenshot.
func TestARealPrometheusShowsTheDashboard(t *testing.T) {
	otherPrograms(t)
	tool, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is not installed: it is Debian's package of this name")
	}
	s := start(t, nil, func(c *app.Config) { c.Telemetry.MetricsAddr = "127.0.0.1:0" })
	own, err := url.Parse(app.MetricsURL(s.server))
	if err != nil {
		t.Fatal(err)
	}
	dir, at := t.TempDir(), free(t)
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: manifold, static_configs: [{targets: [%q]}]}]\n", own.Host)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := begin(t, at, tool, "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", at)
	s.asked(t, "")
	// A rate needs two scrapes.
	within(t, p, "the first run was read", func() bool { return asks(t, at, "manifold_run_machine_duration_seconds_count") != 0 })
	s.asked(t, "")
	if _, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: "set an alert for AAPL above 250"}, client.Opt{Wait: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	raw, err := os.ReadFile("../../examples/monitoring/dashboard.json")
	if err := errors.Join(err, json.Unmarshal(raw, &board)); err != nil {
		t.Fatal(err)
	}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			within(t, p, panel.Title+" has data", func() bool { return asks(t, at, target.Expr) != 0 })
		}
	}
	if dir := os.Getenv("PICTURES"); dir != "" {
		picture(t, at, filepath.Join(dir, "prometheus.png"))
	}
}

// asks returns the number of series of an expression.
func asks(t *testing.T, at, expr string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/api/v1/query?query="+url.QueryEscape(expr), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0 // not ready
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("%s: %d %s %v", expr, res.StatusCode, raw, err)
	}
	var got struct {
		Data struct{ Result []json.RawMessage }
	}
	_ = json.Unmarshal(raw, &got) // not ready
	return len(got.Data.Result)
}

// picture saves a screenshot of the Prometheus page with the main queries of the dashboard.
func picture(t *testing.T, at, file string) {
	t.Helper()
	var page strings.Builder
	page.WriteString("http://" + at + "/graph?")
	for i, expr := range []string{"max by (manifold_safety_counter) (manifold_safety_violations)", "sum by (manifold_domain, manifold_reply) (manifold_domain_call_duration_seconds_count)"} {
		fmt.Fprintf(&page, "g%d.expr=%s&g%d.tab=0&g%d.range_input=2m&", i, url.QueryEscape(expr), i, i)
	}
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,1150", "--virtual-time-budget=15000", "--screenshot="+file, page.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("picture: %v\n%s", err, out)
	}
}
