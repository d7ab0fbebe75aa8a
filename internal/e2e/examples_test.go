package e2e_test

import (
	"bufio"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// startWorkday serves the domain in front of a sandbox tenant.
func startWorkday(t *testing.T) (*sandbox.Tenant, contracts.Registration) {
	t.Helper()
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rest := httptest.NewServer(tenant)
	t.Cleanup(rest.Close)
	c := tenant.Credentials()
	svc, err := workday.New(workday.Config{
		Access: workday.Access{All: []string{"operator"}},
		Today:  func() time.Time { return time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC) },
		Tenant: workday.Tenant{
			URL: rest.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true,
			RequestsPerSecond: 1000, Burst: 1000, MaxConcurrency: 16,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tenant, contracts.Registration{Domain: "workday", URL: domaintest.Serve(t, svc)}
}

// startBookshelf runs the example that is written in Python.
func startBookshelf(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the example in Python is not tried here")
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("..", "..", "examples", "bookshelf", "domain.py"), "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("domain.py did not start: %v", err)
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), "serving on ")
	return url
}

const (
	compareThree = "compare the time off balances of Ana Souza, Bruno Lima and Carla Mendes"
	janeAusten   = "do you have books by Jane Austen"
)

// twoDays asks for time off from a Monday in some weeks.
func twoDays() string {
	day := time.Now().AddDate(0, 0, 21)
	for day.Weekday() != time.Monday {
		day = day.AddDate(0, 0, 1)
	}
	return "request 2 days off for Ana Souza from " + day.Format(time.DateOnly)
}

func requested(tenant *sandbox.Tenant) int {
	n := 0
	for _, e := range tenant.Effects() {
		if e.Kind == sandbox.EffectTimeOffRequested {
			n++
		}
	}
	return n
}

func TestExampleCompareBalances(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	_, reg := startWorkday(t)
	s.register(reg)
	r := s.ask(compareThree)
	if r.Status != contracts.SessionCompleted || r.Answer == nil {
		t.Fatalf("the session is %s:\n%s\n%s", r.Status, asJSON(r.Interrupts), textOf(r.Answer))
	}
	table := tableOf(r.Answer)
	if table == nil {
		t.Fatalf("there is no table:\n%s", textOf(r.Answer))
	}
	for _, name := range []string{"Ana Souza", "Bruno Lima", "Carla Mendes"} {
		if !slices.ContainsFunc(table.Rows, func(row []any) bool { return slices.Contains(row, any(name)) }) {
			t.Errorf("the table has no row of %s:\n%s", name, textOf(r.Answer))
		}
	}
	view := s.ended(r.RunIDs[0])
	reads := 0
	for _, n := range view.Nodes {
		if n.Tool == "workday.get_time_off_balances" {
			reads++
			for _, other := range view.Nodes {
				if other.Tool == n.Tool && slices.Contains(n.DependsOn, other.NodeID) {
					t.Errorf("%s waits for %s; the reads are not parallel", n.NodeID, other.NodeID)
				}
			}
		}
	}
	if reads != 3 || view.Verdict == nil || view.Verdict.Status != contracts.VerdictVerified {
		t.Errorf("%d reads, verdict %s", reads, asJSON(view.Verdict))
	}
	s.sound(view)
}

func tableOf(a *contracts.Answer) *contracts.Block {
	if a == nil {
		return nil
	}
	for i := range a.Blocks {
		if a.Blocks[i].Kind == contracts.BlockTable {
			return &a.Blocks[i]
		}
	}
	return nil
}

func TestExampleRequestTimeOff(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	tenant, reg := startWorkday(t)
	s.register(reg)
	preview, err := s.rita.Plan(t.Context(), contracts.PlanRequest{Message: twoDays()})
	if err != nil || preview.Plan == nil || !slices.ContainsFunc(preview.Rows, func(r contracts.PlanRow) bool { return r.Approval != "" }) {
		t.Fatalf("the plan shows no approval: %v %s", err, asJSON(preview))
	}
	r := s.ask(twoDays())
	if r.Status != contracts.SessionPendingInterrupt || r.Interrupt.Type != contracts.InterruptWriteApproval {
		t.Fatalf("the session is %s:\n%s\n%s", r.Status, asJSON(r.Interrupts), textOf(r.Answer))
	}
	_, err = s.rita.Approve(t.Context(), *r.Interrupt, "", client.Opt{})
	wantCode(t, err, contracts.CodeForbidden)
	if requested(tenant) != 0 {
		t.Fatal("the time off was requested before anybody approved")
	}
	s.approve(*r.Interrupt)
	view := s.ended(r.RunIDs[0])
	if view.State != contracts.RunCompleted || view.Verdict.Status != contracts.VerdictVerified || requested(tenant) != 1 {
		t.Errorf("%s%s\nrequests: %d", states2text(view), asJSON(view.Verdict), requested(tenant))
	}
	if !strings.Contains(textOf(view.Answer), "read back and as asked") {
		t.Errorf("the answer does not tell that it was read back:\n%s", textOf(view.Answer))
	}
	s.sound(view)
}

func TestExamplePythonDomainIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	url := startBookshelf(t)
	if r := s.ask(janeAusten); len(r.RunIDs) > 0 {
		t.Errorf("somebody answered before the domain was there:\n%s", textOf(r.Answer))
	}
	s.register(contracts.Registration{Domain: "bookshelf", URL: url})
	r := s.ask(janeAusten)
	if table := tableOf(r.Answer); table == nil || !strings.Contains(textOf(r.Answer), "Emma") {
		t.Errorf("no table with Emma:\n%s", textOf(r.Answer))
	}
}

var gateCode = regexp.MustCompile(`\b[2-9A-HJKMNP-Z]{5}\b`)

func TestExamplesByTheCommandLine(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	admin, rita, otto := p.keys[0], p.keys[1], p.keys[2]
	tenant, reg := startWorkday(t)
	run := func(key string, code int, words ...string) string {
		t.Helper()
		out, errs, got := p.command(key, words...)
		if got != code {
			t.Fatalf("manifold %v ended with %d, want %d\n%s%s", words, got, code, out, errs)
		}
		return out
	}
	run(admin, 0, "domain", "check", reg.URL)
	run(admin, 0, "domain", "add", "workday", reg.URL)

	out := run(rita, 0, "ask", compareThree)
	for _, name := range []string{"Ana Souza", "Bruno Lima", "Carla Mendes"} {
		if !strings.Contains(out, name) {
			t.Errorf("%s is missing:\n%s", name, out)
		}
	}
	run(rita, 3, "ask", twoDays())
	listed := run(otto, 0, "gates")
	code := gateCode.FindString(listed[strings.Index(listed, "\n")+1:])
	if code == "" {
		t.Fatalf("no code in:\n%s", listed)
	}
	gate, err := p.rita.Gate(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	run(rita, 1, "approve", code, "--sha256", gate.ActionSHA256)
	run(otto, 0, "approve", code, "--sha256", gate.ActionSHA256)
	ended := eventually(t, "the end of the run", func() (contracts.RunSummary, bool) {
		runs, err := p.rita.Runs(t.Context(), client.RunsFilter{Limit: 1})
		if err != nil || len(runs) == 0 || !runs[0].State.Terminal() {
			return contracts.RunSummary{}, false
		}
		return runs[0], true
	})
	shown := run(rita, 0, "run", "show", ended.RunID)
	if requested(tenant) != 1 || ended.Verdict != contracts.VerdictVerified || !strings.Contains(shown, "verified") {
		t.Errorf("requests: %d, %s\n%s", requested(tenant), asJSON(ended), shown)
	}
	run(rita, 0, "run", "replay", ended.RunID)
	run(rita, 0, "audit", "verify")

	run(admin, 0, "domain", "add", "bookshelf", startBookshelf(t))
	if out := run(rita, 0, "ask", janeAusten); !strings.Contains(out, "Emma") {
		t.Errorf("no Emma:\n%s", out)
	}
	run(rita, 5, "run", "show", "run_none")
	run(rita, 2, "approve")
	if _, errs, _ := p.command("wrong", "whoami"); strings.Contains(fmt.Sprint(errs), rita) {
		t.Error("a key is shown")
	}
}
