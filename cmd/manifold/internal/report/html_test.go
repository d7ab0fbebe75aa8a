package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
	"github.com/manifold-run/manifold/contracts"
)

const hostile = `</style></table><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x`

func exampleRun() report.AuditedRun {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	node := contracts.NodeView{Node: contracts.Node{NodeID: "n1", Title: hostile, Tool: "shop.pay"}, State: contracts.NodeCompleted, Summary: hostile, StartedAt: &at}
	return report.AuditedRun{
		View: contracts.RunView{
			RunID: "run_1", State: contracts.RunCompleted, Plan: contracts.Plan{Goal: hostile, PlanHash: "abc", Owner: contracts.Principal{ID: hostile}},
			Nodes: []contracts.NodeView{node}, CreatedAt: at, FinishedAt: &at,
			Answer: &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockText, Text: hostile}}},
		},
		Gates: []contracts.Interrupt{{
			Code: "AB2", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptApproved, CreatedAt: at, ActionSHA256: "feed",
			Action:    &contracts.Action{Capability: "shop.pay", Parameters: map[string]any{"note": hostile}},
			Decisions: []contracts.InterruptDecided{{Decision: contracts.DecisionApprove, DecidedBy: "otto", DecidedAt: at, Comment: hostile, ActionSHA256: "feed"}},
		}},
		Ledger: []contracts.LedgerEntry{{Seq: 1, At: at, Kind: contracts.LedgerPlan, Actor: hostile, Hash: "0f"}},
		At:     at,
	}
}

func TestWhatOthersHaveSaidIsText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := report.WriteHTML(&out, exampleRun()); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "<script") || strings.Contains(text, "<img") || regexp.MustCompile(`<[^>]*\son\w+=`).MatchString(text) {
		t.Errorf("something hostile is markup:\n%s", text)
	}
	if n := strings.Count(text, "alert(1)&lt;/script&gt;"); n < 8 {
		t.Errorf("it is told %d times, want 8 or more", n)
	}
}

func TestTheFileNeedsNothingElse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := report.WriteHTML(&out, exampleRun()); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if found := regexp.MustCompile(`(?i)<(link|script|iframe|object|base)|<[^>]*\s(src|href|action)=|url\(|@import`).FindString(text); found != "" {
		t.Errorf("it loads something: %q", found)
	}
	for _, want := range []string{"default-src &#39;none&#39;", "otto", "AB2", "feed", "shop.pay", "run_1", "2026-03-04 05:06:07 UTC", "0f"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "ZgotmplZ") {
		t.Error("a value was filtered by the template")
	}
}
