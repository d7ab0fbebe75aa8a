package finance_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
)

func serve(t *testing.T, config finance.Config) string {
	t.Helper()
	svc, err := finance.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return domaintest.Serve(t, svc)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	server := serve(t, finance.Config{Tokens: []string{"s3cret"}})
	report := conformance.Run(t.Context(), conformance.Options{URL: server, Authorization: "Bearer s3cret", AllowWrites: true})
	for _, f := range report.Findings() {
		t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Pointer, f.Message)
	}
}

// execute calls a capability and returns status and result.
func execute(t *testing.T, server, capability, parameters, key string) (int, contracts.ToolResult) {
	t.Helper()
	return domaintest.Execute(t, server, capability, json.RawMessage(parameters), map[string]any{"idempotency_key": key})
}

func facts(t *testing.T, server, capability, parameters, key string) map[string]any {
	t.Helper()
	status, result := execute(t, server, capability, parameters, key)
	if status != 200 || !result.OK {
		t.Fatalf("%s %s: status %d, %+v", capability, parameters, status, result)
	}
	return result.Facts
}

func TestPrices(t *testing.T) {
	t.Parallel()
	at := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	a, again, other := serve(t, finance.Config{Now: at}), serve(t, finance.Config{Now: at}), serve(t, finance.Config{Seed: 2})
	first := facts(t, a, "get_stock_price", `{"symbol":"PETR4.SA"}`, "")
	if diff := cmp.Diff(first, facts(t, again, "get_stock_price", `{"symbol":"PETR4"}`, "")); diff != "" {
		t.Errorf("the same seed, and the ticker without its suffix (-want +got):\n%s", diff)
	}
	if first["at"] != "2026-03-01T12:00:00Z" || first["name"] != "Petrobras PN" || first["currency"] != "USD" {
		t.Errorf("facts %v", first)
	}
	if facts(t, other, "get_stock_price", `{"symbol":"PETR4.SA"}`, "")["price"] == first["price"] {
		t.Error("another seed gives the same price")
	}
	if facts(t, a, "get_stock_price", `{"symbol":"PETR4.SA","currency":"BRL"}`, "")["price"] == first["price"] {
		t.Error("the price is the same in another currency")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server := serve(t, finance.Config{})
	tests := map[string]struct {
		capability, parameters string
		status                 int
		errType                string
	}{
		"an unknown stock":         {"get_stock_price", `{"symbol":"NOPE"}`, 200, contracts.ErrNotFound},
		"a list of stocks":         {"get_stock_price", `{"symbols":["AAPL"]}`, 200, contracts.ErrInvalidParameters},
		"one and a list":           {"get_stock_price", `{"symbol":"AAPL","symbols":["AAPL"]}`, 400, contracts.ErrInvalidParameters},
		"a price of nothing":       {"set_price_alert", `{"symbol":"AAPL","above":0}`, 400, contracts.ErrInvalidParameters},
		"an alert on nothing":      {"set_price_alert", `{"symbol":"NOPE","above":1}`, 200, contracts.ErrNotFound},
		"an alert that never was":  {"delete_price_alert", `{"alert_id":"al-7"}`, 200, contracts.ErrNotFound},
		"an alert without a trace": {"find_alert", `{}`, 400, contracts.ErrInvalidParameters},
	}
	for name, tt := range tests {
		status, result := execute(t, server, tt.capability, tt.parameters, name)
		if status != tt.status || result.OK || result.Error.Type != tt.errType {
			t.Errorf("%s: status %d, %+v; want %d and %s", name, status, result, tt.status, tt.errType)
		}
	}
}

func TestTheLifeOfAnAlert(t *testing.T) {
	t.Parallel()
	server := serve(t, finance.Config{})
	id, ok := facts(t, server, "set_price_alert", `{"symbol":"AAPL","above":250}`, "run-1/n1/1")["alert_id"].(string)
	if !ok {
		t.Fatal("no id")
	}
	facts(t, server, "set_price_alert", `{"symbol":"AAPL","above":250}`, "run-1/n1/1")
	list := facts(t, server, "list_price_alerts", `{"symbol":"AAPL"}`, "")
	if list["count"] != 1.0 {
		t.Errorf("after a repeat %v alerts are set, want one", list["count"])
	}
	facts(t, server, "delete_price_alert", `{"alert_id":"`+id+`"}`, "run-1/n2/1")
	facts(t, server, "delete_price_alert", `{"alert_id":"`+id+`"}`, "run-1/n2/1")
	if diff := cmp.Diff(map[string]any{"found": false}, facts(t, server, "find_alert", `{"alert_id":"`+id+`"}`, "")); diff != "" {
		t.Errorf("after the deletion (-want +got):\n%s", diff)
	}
	// The outcome of the request stays known, whatever happened since.
	if diff := cmp.Diff(map[string]any{"found": false, "applied": true}, facts(t, server, "find_alert", `{"key":"run-1/n1/1"}`, "")); diff != "" {
		t.Errorf("by its key (-want +got):\n%s", diff)
	}
}
