package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	svc, err := newDomain(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	report := conformance.Run(t.Context(), conformance.Options{URL: domaintest.Serve(t, svc), AllowWrites: true})
	for _, f := range report.Findings() {
		if f.Rule != "open" { // the guide shows how to require a token
			t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Pointer, f.Message)
		}
	}
}

// TestTheGuideShowsThisCode keeps docs/write-a-domain.md in sync: a block after "<!-- from PATH
// -->" must occur verbatim in that file.
func TestTheGuideShowsThisCode(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	guide, err := os.ReadFile(filepath.Join(root, "docs", "write-a-domain.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```\\w+\n(.*?)```\n").FindAllStringSubmatch(string(guide), -1)
	if len(blocks) < 6 {
		t.Fatalf("%d blocks found in the guide", len(blocks))
	}
	for _, block := range blocks {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(block[1])))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(source), block[2]) {
			t.Errorf("%s does not contain:\n%s", block[1], block[2])
		}
	}
}
