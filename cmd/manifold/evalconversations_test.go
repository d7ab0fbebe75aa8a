package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent/eval/conversation"
)

// TestConversationsArePlayedAndGraded starts a demo, seeds it, plays the conversations and grades
// them. A set with one wrong expectation misses its minimum.
func TestConversationsArePlayedAndGraded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds and starts the demo")
	}
	program := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../demo").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	var out, errs bytes.Buffer
	args := []string{"eval", "conversations", "testdata/conversations.json", "--demo", program, "--embeddings", "off", "--json", "--max-drops", "0", "--model", "perfect", "--dialect", "words"}
	code := run(t.Context(), args, func(string) string { return "" }, strings.NewReader(""), &out, &errs)
	var report conversation.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	if code != exitError || !strings.Contains(errs.String(), "floor missed: silent drops: 1") {
		t.Errorf("it ends with %d: %s", code, errs.String())
	}
	for _, row := range report.Rows {
		want := conversation.Right
		if row.ID == "mistaken" {
			want = conversation.SilentDrop
		}
		if row.Grade != want {
			t.Error(row.Text())
		}
	}
	if len(report.Rows) != 9 || report.Total.Effects != 0 || report.Model == nil {
		t.Errorf("%d conversations, %+v, model %v", len(report.Rows), report.Total, report.Model)
	}
}

func TestConversationsRefuseWhatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"asks no model":          {"--reader", "local", "--model", "perfect"},
		"needs --model":          {"--reader", "model"},
		"needs --recorded":       {"--model", "gpt"},
		"--dialect must be":      {"--model", "perfect", "--dialect", "verse"},
		"needs --model-addr":     {"--model", "perfect", "--server", "http://127.0.0.1:1"},
		"register the domain at": {"--domain", "a=http://127.0.0.1:1", "--server", "http://127.0.0.1:1"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"eval", "conversations", "testdata/conversations.json"}, args...), func(string) string { return "" }, strings.NewReader(""), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), says) {
			t.Errorf("%v: ends with %d and %q, want %q", args, code, errs.String(), says)
		}
	}
}
