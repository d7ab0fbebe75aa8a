package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinkSettingsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	const at = "https://manifold.example.com"
	tests := map[string]struct {
		args []string
		says string
	}{
		"no https":                     {[]string{"--approval-links", "http://manifold.example.com"}, "need https"},
		"no URL":                       {[]string{"--approval-links", "manifold.example.com"}, "https://host/path"},
		"a URL with a query":           {[]string{"--approval-links", at + "?x=1"}, "https://host/path"},
		"a key on the command line":    {[]string{"--approval-links", at, "--approval-link-key", "secret"}, "must be env:NAME"},
		"a key that is short":          {[]string{"--approval-links", at, "--approval-link-key", "env:SHORT"}, "at least 32 bytes"},
		"a key without links":          {[]string{"--approval-link-key", "env:SHORT"}, "needs --approval-links"},
		"links that never count":       {[]string{"--approval-links", at, "--approval-link-ttl", "0s"}, "longer than nothing"},
		"links that count before then": {[]string{"--approval-links", at, "--approval-link-ttl=-1h"}, "longer than nothing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string {
				if name == "SHORT" {
					return "short"
				}
				return ""
			}
			var out, errs bytes.Buffer
			args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data")}, test.args...)
			if code := run(t.Context(), args, getenv, nil, &out, &errs); code == exitOK || !strings.Contains(errs.String(), test.says) {
				t.Errorf("ends with %d and says %s", code, &errs)
			}
		})
	}
}
