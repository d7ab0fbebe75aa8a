package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/internal/telemetry"
)

// TestEachSafetyCounterMakesItsAlertFire violates each safety rule in turn and evaluates the
// alert rules with the scraped metrics. Other tests check that a violation increases its counter.
func TestEachSafetyCounterMakesItsAlertFire(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	rules, err := filepath.Abs("../../examples/monitoring/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for counter, broken := range map[string]metrics.Safety{
		"":                   {},
		"approvals_bypassed": {ApprovalsBypassed: 1},
		"write_collisions":   {WriteCollisions: 1},
		"failed_resumes":     {FailedResumes: 1},
		"audit_holes":        {AuditHoles: 1},
	} {
		t.Run("broken "+counter, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "test.yml")
			if err := os.WriteFile(file, []byte(ruleTest(rules, safetyLines(t, broken), counter)), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), tool, "test", "rules", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

var safetyLine = regexp.MustCompile(`(?m)^(manifold_safety_violations\{[^}]*\}) (\d+)$`)

// safetyLines returns the counters in the Prometheus format.
func safetyLines(t *testing.T, safety metrics.Safety) [][]string {
	t.Helper()
	told, err := telemetry.New(t.Context(), telemetry.Config{
		Getenv: func(string) string { return "" }, Prometheus: true, Version: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = told.Stop(context.WithoutCancel(t.Context())) })
	err = told.Watch(telemetry.Sources{
		Counts:  func(context.Context) (contracts.RunCounts, error) { return contracts.RunCounts{}, nil },
		Stats:   func(context.Context) (metrics.Stats, error) { return metrics.Stats{Safety: safety}, nil },
		Domains: func() []contracts.DomainView { return nil },
	}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewRecorder()
	told.Metrics().ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	lines := safetyLine.FindAllStringSubmatch(page.Body.String(), -1)
	if len(lines) != 4 {
		t.Fatalf("%d counters of safety are scraped:\n%s", len(lines), page.Body)
	}
	return lines
}

// ruleTest returns a promtool test: of the scraped counters, only the given one fires its alert,
// or none does.
func ruleTest(rules string, lines [][]string, counter string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%q]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n", rules)
	for _, line := range lines {
		fmt.Fprintf(&b, "      - {series: '%s', values: '0 %s %s'}\n", line[1], line[2], line[2])
	}
	b.WriteString("    alert_rule_test:\n      - eval_time: 2m\n        alertname: ManifoldSafetyViolation\n        exp_alerts:")
	if counter == "" {
		b.WriteString(" []\n")
		return b.String()
	}
	fmt.Fprintf(&b, `
          - exp_labels: {severity: critical, manifold_safety_counter: %s}
            exp_annotations:
              summary: "%s is 1; it must be 0"
              description: "manifold stats names the runs. Stop approving writes until it is understood: docs/observability.md."
`, counter, counter)
	return b.String()
}
