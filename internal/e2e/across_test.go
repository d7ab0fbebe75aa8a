package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/examples/finance"
)

const (
	ordersDocument = `{"openapi":"3.1.0","info":{"title":"Orders","version":"1"},"paths":{"/orders":{"post":{"operationId":"placeOrder","summary":"Places an order.",
  "requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["item","count"],"properties":{"item":{"type":"string"},"count":{"type":"integer"}}}}}},
  "responses":{"201":{"description":"the order"}}}}}}`
	ordersOverlay = `{"tools":{"placeOrder":{"name":"place_order","metadata":{"side_effect_class":"write_irreversible","risk_level":"medium","intent_hints":{"examples":["order 3 lamps"]}}}}}`
)

// TestWhatWasDoneBeforeTheThirdDomainFailedIsOfferedBack: of a plan over finance, Workday and
// an OpenAPI service the last fails. What the first two did is offered to be taken
// back, and "undo all" is one run with a gate for each, the last first.
func TestWhatWasDoneBeforeTheThirdDomainFailedIsOfferedBack(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"message":"there are no lamps left"}`)
			return
		}
		_, _ = io.WriteString(w, ordersDocument)
	}))
	t.Cleanup(shop.Close)
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	workdays := httptest.NewServer(tenant)
	t.Cleanup(workdays.Close)
	c := tenant.Credentials()
	hr, err := workday.New(workday.Config{
		Access: workday.Access{All: []string{"operator"}},
		Tenant: workday.Tenant{
			URL: workdays.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: -1,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	prices, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := startSite(t)
	s.register(contracts.Registration{Domain: "workday", URL: domaintest.Serve(t, hr)})
	s.register(contracts.Registration{Domain: "finance", URL: domaintest.Serve(t, prices)})
	s.register(contracts.Registration{Domain: "orders", Bridge: contracts.Bridge{OpenAPI: &contracts.OpenAPIService{
		Document: shop.URL + "/openapi.json", Base: shop.URL, BridgeOverlay: contracts.BridgeOverlay{Overlay: json.RawMessage(ordersOverlay)},
	}}})

	worker := ""
	for _, w := range tenant.People() {
		if w.Name == "Ana Souza" {
			worker = w.ID
		}
	}
	day := time.Now().UTC().AddDate(0, 0, 28)
	for day.Weekday() != time.Tuesday {
		day = day.AddDate(0, 0, 1)
	}
	alert := call("finance.set_price_alert", map[string]any{"symbol": "TSLA", "above": 931})
	leave := call("workday.request_time_off", map[string]any{"worker": worker, "start": day.Format(time.DateOnly), "days": 1, "absence_type": "vacation"})
	order := call("orders.place_order", map[string]any{"item": "lamp", "count": 3})
	leave.After, order.After = []string{"i1"}, []string{"i2"}
	r := s.run(alert, leave, order)
	run := r.RunIDs[0]
	for _, want := range []string{"finance.set_price_alert", "workday.request_time_off", "orders.place_order"} {
		gate := s.gates(run, 1)[0]
		if gate.Action == nil || gate.Action.Capability != want {
			t.Fatalf("the gate is for %s, not %s", asJSON(gate.Action), want)
		}
		s.approve(gate)
	}
	if view := s.ended(run); view.State == contracts.RunCompleted {
		t.Fatalf("it ended as %s\n%s", view.State, states2text(view))
	}
	session, err := s.rita.AwaitSession(t.Context(), r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	told := textOf(session.Answer)
	_, offered, _ := strings.Cut(told, "Done before that, and still so: ")
	leaveAt, alertAt := strings.Index(offered, "Ana Souza"), strings.Index(offered, "TSLA")
	if !strings.Contains(told, "no lamps left") || !strings.Contains(offered, "the last first: `undo all`") || leaveAt < 0 || alertAt < leaveAt {
		t.Fatalf("it is told as %s", told)
	}

	undone, err := s.rita.Say(t.Context(), r.SessionID, "undo all", wait())
	if err != nil || len(undone.RunIDs) != 2 {
		t.Fatalf("%v %s", err, asJSON(undone))
	}
	back := undone.RunIDs[1]
	for _, want := range []string{"workday.cancel_time_off", "finance.delete_price_alert"} {
		gate := s.gates(back, 1)[0] // the second waits for the first
		if gate.Action == nil || gate.Action.Capability != want {
			t.Fatalf("the gate is for %s, not %s", asJSON(gate.Action), want)
		}
		s.approve(gate)
	}
	view := s.ended(back)
	if view.State != contracts.RunCompleted {
		t.Fatalf("it ended as %s\n%s", view.State, states2text(view))
	}
	s.sound(view)
	if _, err := s.rita.Compensate(t.Context(), run, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("undone a second time: %v", err)
	}
}
