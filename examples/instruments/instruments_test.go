package instruments_test

import (
	"testing"

	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/instruments"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	svc, err := instruments.New(instruments.Config{})
	if err != nil {
		t.Fatal(err)
	}
	report := conformance.Run(t.Context(), conformance.Options{URL: domaintest.Serve(t, svc), AllowWrites: true})
	for _, f := range report.Findings() {
		if f.Severity != "warning" && f.Rule != "open" { // it has few examples on purpose
			t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Pointer, f.Message)
		}
	}
}
