package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/witness"
)

func TestASentenceIsAnsweredWithATable(t *testing.T) {
	t.Parallel()
	d := setup(t)
	out := d.does("rita", exitOK, `(?s)Prices\n  STOCK .*  AAPL .*verdict: verified`, "ask", "what", "is", "the", "stock", "price", "of", "Apple")
	lines := strings.Split(out, "\n")
	var head, row string
	for i, line := range lines {
		if strings.HasPrefix(line, "  STOCK") {
			head, row = line, lines[i+1]
		}
	}
	if at := strings.Index(head, "PRICE"); at < 1 || row[at-1] != ' ' || row[at] == ' ' {
		t.Errorf("the columns are not aligned:\n%s\n%s", head, row)
	}
	var answer contracts.SessionResponse
	if code := d.reads("rita", &answer, "ask", "what is the stock price of Apple"); code != exitOK || answer.Status != contracts.SessionCompleted {
		t.Errorf("%d %+v", code, answer)
	}
	d.does("rita", exitOK, `what is the stock price`, "sessions")
	d.does("rita", exitOK, `AAPL`, "sessions", "show", answer.SessionID)
	d.does("rita", exitOK, `(?m)^# what is the stock price`, "sessions", "summary", answer.SessionID)
	d.does("rita", exitOK, `AAPL`, "ask", "--session", answer.SessionID, "what is the stock price of Apple")
	d.does("rita", exitOK, ``, "sessions", "remove", answer.SessionID)
	d.does("rita", exitNotFound, answer.SessionID, "sessions", "show", answer.SessionID)
}

func TestAnActionIsShownApprovedAndUndone(t *testing.T) {
	t.Parallel()
	d := setup(t)
	code := d.waiting()
	d.does("otto", exitOK, code, "gates")
	d.approves("rita", exitError, `role approver`, code)
	d.does("otto", exitUsage, `--sha256`, "approve", code, "--yes") // nobody has read it
	d.does("otto", exitError, `not about the action`, "approve", code, "--sha256", strings.Repeat("0", 64))
	d.does("otto", exitUsage, `each by its own`, "approve", code, code, "--sha256", strings.Repeat("0", 64))
	shown := d.approves("otto", exitOK, `(?s)Action: finance.set_price_alert\n.*AAPL.*`+code+` is approved`, code, "--comment", "fine")
	if strings.Index(shown, "Action:") > strings.Index(shown, "is approved") {
		t.Error("it is shown after it was approved")
	}
	d.does("rita", exitOK, `(?s)completed.*✓ n1.*verdict: verified`, "run", "show", "--watch")
	d.does("rita", exitOK, `(?s)completed.*\nfinance\n.*FACT.*AAPL.*CALL.*n1 `, "run", "state")
	d.does("otto", exitOK, `approve by otto at .*fine`, "gates", d.gateID("rita"))
	var runs []contracts.RunSummary
	d.reads("rita", &runs, "runs")
	run := runs[0].RunID
	d.does("rita", exitOK, `(?s)plan.*decision.*otto.*intent.*outcome`, "run", "ledger", run)
	d.does("rita", exitOK, `lead to completed`, "run", "replay", run)
	d.does("rita", exitOK, `1 runs, 4 entries`, "audit", "verify", run)
	d.does("rita", exitWaiting, `manifold approve`, "run", "compensate", run, "n1")
	d.does("rita", exitOK, `No lock is held`, "locks")
	d.does("", exitNotFound, `nothing`, "locks", "break", "nothing")
}

// gateID returns the id of the only decided gate.
func (d *desk) gateID(who string) string {
	d.t.Helper()
	var gates []contracts.Interrupt
	d.reads(who, &gates, "gates", "--status", "approved")
	if len(gates) != 1 {
		d.t.Fatalf("%d gates", len(gates))
	}
	return gates[0].InterruptID
}

func TestARejectedOrCancelledRunEndsWithItsOwnCode(t *testing.T) {
	t.Parallel()
	d := setup(t)
	code := d.waiting()
	d.does("otto", exitOK, code+` is rejected`, "reject", code, "--comment", "no")
	d.does("rita", exitFailed, `(?s)rejected.*✗ n1`, "run", "show", "--watch")
	d.does("otto", exitNotFound, code, "approve", code)
	d.waiting()
	var runs []contracts.RunSummary
	d.reads("rita", &runs, "runs", "--state", "waiting")
	d.does("rita", exitWaiting, `\? n1`, "run", "show", runs[0].RunID)
	d.does("rita", exitOK, `cancelled`, "run", "cancel", runs[0].RunID)
	d.does("rita", exitFailed, `cancelled`, "run", "show", runs[0].RunID)
}

func TestAPlanIsShownAndRunExactly(t *testing.T) {
	t.Parallel()
	d := setup(t)
	out := d.does("rita", exitOK, `(?s)NODE.*n1.*finance.set_price_alert.*manifold plan run [0-9a-f]{64}`, "plan", alert)
	hash := strings.TrimSpace(out[strings.LastIndex(out, " ")+1:])
	d.does("rita", exitOK, `(?m)^(graph|flowchart)`, "plan", "--mermaid", alert)
	d.does("otto", exitNotFound, `plan`, "plan", "run", hash)
	d.does("rita", exitWaiting, `manifold approve`, "plan", "run", hash)
	d.does("rita", exitWaiting, `\? `, "plan", "set a price alert")
	d.does("rita", exitWaiting, `finance\.`, "plan", "buy me a pony")
}

func TestARequestIsHeldToThePhaseThatIsNamed(t *testing.T) {
	t.Parallel()
	d := setup(t)
	var preview contracts.PlanPreview
	d.reads("rita", &preview, "plan", "--phase", "review", alert)
	if preview.Plan == nil || preview.Plan.Phase != "review" || preview.Plan.Nodes[0].Phase != "review" {
		t.Errorf("planned: %+v", preview.Plan)
	}
	var session contracts.SessionResponse
	d.reads("rita", &session, "ask", "--phase", "review", alert)
	var run contracts.RunView
	d.reads("rita", &run, "run", "show", session.RunIDs[0])
	if run.Plan.Phase != "review" {
		t.Errorf("asked: %+v", run.Plan)
	}
	d.does("rita", exitError, `/phase`, "ask", "--phase", "In Review", alert)
}

func TestAQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	d := setup(t)
	var session contracts.SessionResponse
	code := d.reads("rita", &session, "ask", "set a price alert")
	for range 4 {
		if code != exitWaiting || session.Interrupt.Type != contracts.InterruptClarification {
			break
		}
		word := "AAPL"
		if session.Interrupt.ResponseSchema["type"] == "number" {
			word = "250"
		} else if len(session.Interrupt.Options) > 0 {
			word = session.Interrupt.Options[0].ID
		}
		d.does("otto", exitNotFound, session.Interrupt.Code, "answer", session.Interrupt.Code, word)
		d.does("rita", exitOK, `is answered\nSee what came of it with: manifold sessions show ses_`, "answer", session.Interrupt.Code, word)
		id := session.SessionID
		d.until(func() bool {
			session = contracts.SessionResponse{}
			code = d.reads("rita", &session, "sessions", "show", id)
			return session.Status != contracts.SessionRunning
		})
	}
	if code != exitWaiting || session.Interrupt.Type != contracts.InterruptWriteApproval {
		t.Errorf("%d %+v", code, session)
	}
	d.does("otto", exitUsage, `unknown outcome`, "settle", session.Interrupt.Code, "applied")
	d.does("otto", exitUsage, `not-applied`, "settle", session.Interrupt.Code, "perhaps")
}

func TestDomainsAreCheckedAndManaged(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.does("rita", exitOK, `(?s)passed   manifest.*0 errors`, "domain", "check", d.url, "--allow-writes")
	d.does("rita", exitFailed, `failed`, "domain", "check", "http://127.0.0.1:1", "--timeout", "1s")
	d.does("rita", exitUsage, `env:NAME`, "domain", "check", d.url, "--authorization", "Bearer secret")
	d.does("rita", exitOK, `(?s)finance.*set_price_alert +writes, can be undone`, "domain", "show", "finance")
	d.does("", exitOK, `has not changed`, "domain", "diff", "finance")
	d.does("", exitOK, `finance is (active|unchanged)`, "domain", "refresh", "finance")
	d.does("rita", exitError, `role admin`, "domain", "refresh", "finance")
	d.does("", exitNotFound, `nowhere`, "domain", "show", "nowhere")
	d.does("", exitUsage, `NAME and URL`, "domain", "add", "finance")
	d.does("", exitError, `connection refused`, "domain", "add", "nobody", "http://127.0.0.1:1")
	d.does("", exitNotFound, `nobody`, "domain", "remove", "nobody")
	d.does("", exitError, `file`, "domain", "remove", "finance")
}

func TestKeysAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	d := setup(t)
	var key contracts.KeyCreated
	d.reads("", &key, "key", "create", "nightly", "--kind", "service", "--domain", "finance", "--class", "read", "--expires", "1h")
	want := contracts.KeyScopes{Domains: []string{"finance"}, Classes: []contracts.SideEffectClass{contracts.ClassRead}}
	if key.ExpiresAt == nil || !cmp.Equal(key.Scopes, want) || !cmp.Equal(key.Roles, []string{"viewer"}) {
		t.Errorf("%+v", key)
	}
	d.keys["nightly"] = key.Text
	d.does("nightly", exitOK, `get_stock_price`, "domain", "show", "finance")
	d.does("rita", exitError, `role admin`, "key", "list")
	d.does("", exitOK, `nightly`, "key", "list")
	d.does("", exitOK, `is revoked`, "key", "revoke", key.ID)
	d.does("nightly", exitError, `(?s)revoked.*MANIFOLD_KEY`, "domain", "list")
	d.does("", exitUsage, `--expires`, "key", "create", "x", "--expires", "-1h")
	d.does("", exitError, `(?s)/kind.*/roles/0`, "key", "create", "x", "--kind", "robot", "--role", "No Role")
}

func TestAnEntryIsProvenAndCheckedByCommands(t *testing.T) {
	t.Parallel()
	d := setup(t)
	keep := func(name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	older := d.does("", exitOK, `(?m)^\d+$`, "audit", "root")
	public := strings.TrimSpace(string(readFile(t, filepath.Join(d.dir, "audit.keys.pub"))))
	d.does("", exitOK, `has grown from the one of `, "audit", "root", "--since", keep("older.txt", older), "--key", public)
	d.does("", exitUsage, `holds no root`, "audit", "root", "--since", keep("none.txt", "nothing"), "--key", public)
	d.does("", exitUsage, `RUN/SEQ`, "audit", "prove", "acts")

	proof := d.does("", exitOK, `"entries"`, "audit", "prove", "acts/1")
	sound := keep("proof.json", proof)
	d.does("", exitOK, `Entry 1 of acts \(key_created by system`, "audit", "check", sound, "--key", public)
	d.does("", exitError, `signed by no known key|key`, "audit", "check", sound)
	forged := strings.Replace(proof, `"actor": "system"`, `"actor": "nobody"`, 1)
	if forged == proof {
		t.Fatalf("the proof names no actor:\n%s", proof)
	}
	d.does("", exitError, `Entry|entry|hash`, "audit", "check", keep("forged.json", forged), "--key", public)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAuditKeysAreRotatedByACommand(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.keys")
	rotate := func() (code int, out, errs bytes.Buffer) {
		code = run(t.Context(), []string{"audit", "rotate", path}, func(string) string { return "" }, nil, &out, &errs)
		return code, out, errs
	}
	if code, _, errs := rotate(); code != exitError || !strings.Contains(errs.String(), path) {
		t.Errorf("a file that is not there: %d %s", code, &errs)
	}
	before, _, err := witness.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := rotate()
	after, made, err := witness.Load(path)
	if code != exitOK || err != nil || made || len(after.Signing) != 2 || after.Signing[1] != before.Signing[0] {
		t.Fatalf("%d %s %v: %d keys", code, &errs, err, len(after.Signing))
	}
	public, err := os.ReadFile(path + ".pub")
	lines := strings.Fields(string(public))
	if err != nil || len(lines) != 2 || !strings.Contains(out.String(), lines[0]) || strings.Contains(out.String(), after.Signing[0]) {
		t.Errorf("it says %s, and the file for others is %s %v", &out, public, err)
	}
}

func TestFaultyCommandLinesAreUsageErrors(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"no such command":          {"bogus"},
		"no such sub-command":      {"run", "bogus"},
		"no such flag":             {"runs", "--bogus"},
		"too few arguments":        {"approve"},
		"too many arguments":       {"version", "please"},
		"nothing to ask":           {"ask"},
		"a level that is none":     {"serve", "--log-level", "loud", "--data", "/nowhere"},
		"a format that is none":    {"serve", "--log-format", "xml", "--data", "/nowhere"},
		"a dry run in the middle":  {"ask", "--session", "s", "--dry-run", "x"},
		"a phase in the middle":    {"ask", "--session", "s", "--phase", "review", "x"},
		"a file besides arguments": {"domain", "add", "--file", "x", "name", "http://x"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			getenv := func(name string) string { return map[string]string{"HOME": t.TempDir()}[name] }
			if code := run(t.Context(), args, getenv, nil, &out, &errs); code != exitUsage || !strings.HasPrefix(errs.String(), "manifold: ") {
				t.Errorf("%d %s%s", code, &out, &errs)
			}
		})
	}
}

func TestAKeyIsSentOnlyToTheServerThatItBelongsTo(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.does("", exitOK, `finance`, "domain", "list")
	file, err := os.ReadFile(filepath.Join(d.dir, "client.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct{ URL string }
	if err := json.Unmarshal(file, &settings); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(settings.URL, "127.0.0.1", "localhost", 1)
	d.does("", exitError, `API key`, "--server", other, "domain", "list")
	d.does("rita", exitOK, `finance`, "--server", other+"/", "domain", "list")
	d.does("", exitError, `no such file`, "--config", filepath.Join(d.dir, "none.json"), "domain", "list")
}

func TestTheConfigurationIsShownWithoutAStart(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	if code := run(t.Context(), []string{"serve", "--print-config", "--retention", "1h", "--accept-write", "0.9"}, getenv, nil, &out, &errs); code != exitOK {
		t.Fatalf("%d %s", code, &errs)
	}
	var o serveOptions
	if err := json.Unmarshal(out.Bytes(), &o); err != nil || o.Retention.Hours() != 1 || o.Gates.AcceptWrite != 0.9 || o.Data != filepath.Join(home, ".local", "share", "manifold") {
		t.Errorf("%+v %v", o, err)
	}
	if _, err := os.Stat(o.Data); err == nil {
		t.Error("the data folder was made")
	}
}

func TestAServerWithoutItsBootstrapFileDoesNotStart(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	stop()
	args := []string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--bootstrap", filepath.Join(t.TempDir(), "none.json")}
	if code := run(ctx, args, none, nil, &bytes.Buffer{}, &errs); code != exitError || !strings.Contains(errs.String(), "bootstrap file") {
		t.Errorf("%d %s", code, &errs)
	}
}

func TestTextsOfOthersCannotSteerATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := printer{&out}
	evil := "a\x1b[2Jb\u202ec\u009b31md\rX\ny\tz"
	p.answer(&contracts.Answer{Blocks: []contracts.Block{
		{Kind: contracts.BlockText, Text: evil},
		{Kind: contracts.BlockTable, Title: evil, Columns: []contracts.Column{{Title: evil, Unit: evil}}, Rows: [][]any{{evil}, {nil}, {1.5}, {true}}},
		{Kind: contracts.BlockList, Items: []string{evil}},
	}})
	p.gate(contracts.Interrupt{Prompt: evil, Code: "X2", Action: &contracts.Action{Capability: evil, Parameters: map[string]any{evil: evil}}})
	p.event(contracts.Event{Type: contracts.EventNodeEnd, NodeName: evil, Summary: evil})
	if at := strings.IndexAny(out.String(), "\x1b\r\u202e\u009b"); at >= 0 {
		t.Errorf("%q", out.String()[at:])
	}
	if !strings.Contains(out.String(), "  a[2Jbc31mdX y z\n") {
		t.Errorf("a cell is not one line: %q", out.String())
	}
}

func TestATreeShowsWhatComesAfterWhat(t *testing.T) {
	t.Parallel()
	node := func(id string, after ...string) contracts.NodeView {
		return contracts.NodeView{Node: contracts.Node{NodeID: id, DependsOn: after}}
	}
	var lines []string
	tree := report.Tree([]contracts.NodeView{node("n1"), node("n2", "n1"), node("n3"), node("n4", "n3"), node("n5", "n2", "n4"), node("n6", "n5")})
	for _, l := range tree {
		lines = append(lines, l.Indent+l.Node.NodeID)
	}
	want := []string{"n1", "  n2", "n3", "  n4", "n5", "  n6"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestShellsGetCompletions(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"completion", "bash"}, none, nil, &out, &errs); code != exitOK || !strings.Contains(out.String(), "manifold") {
		t.Errorf("%d %s", code, &errs)
	}
}

func TestTheExampleOfABootstrapFileIsTrue(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../../domains.bootstrap.json")
	if err != nil {
		t.Fatal(err)
	}
	var b contracts.Bootstrap
	if err := contracts.Parse(contracts.SchemaBootstrap, body, &b); err != nil || len(b.Domains) == 0 {
		t.Errorf("%v", err)
	}
}
