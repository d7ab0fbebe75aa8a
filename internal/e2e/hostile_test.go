package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// hostileManifest is a manifest around capabilities that are given as JSON.
func hostileManifest(domain, capabilities string) string {
	return fmt.Sprintf(`{"schema_version":"1","domain":%q,"version":"1","capabilities":[%s]}`, domain, capabilities)
}

func hostileCapability(name, schema string) string {
	return fmt.Sprintf(`{"name":%q,"schema":%s,"metadata":{"side_effect_class":"read"}}`, name, schema)
}

func deepSchema(depth int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, depth) + `{"type":"object"}` + strings.Repeat(`}}`, depth)
}

func sendJSON(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}
}

// endless sends bytes until the other side has had enough.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	chunk := []byte(strings.Repeat(" ", 64<<10))
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// drip sends a byte now and then, for as long as anybody reads.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := w.Write([]byte(" ")); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
	}
}

func TestHostileDomainsHarmOnlyThemselves(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	good := newDepot(t, "good")
	s.register(good.registration())
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a $ref made the server call somebody")
	}))
	t.Cleanup(secret.Close)
	many := make([]string, 10_000)
	for i := range many {
		many[i] = hostileCapability(fmt.Sprintf("do_%d", i), `{"type":"object"}`)
	}
	object := `{"type":"object"}`
	cases := map[string]struct {
		manifest http.HandlerFunc
		code     contracts.Code
		says     string
	}{
		"an endless body":         {endless, contracts.CodeTooLarge, "larger than"},
		"a manifest of 5 MiB":     {sendJSON(hostileManifest("evil", "") + strings.Repeat(" ", 5<<20)), contracts.CodeTooLarge, "larger than"},
		"a $ref to a file":        {sendJSON(hostileManifest("evil", hostileCapability("do_it", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`))), contracts.CodeInvalid, "$ref"},
		"a $ref to the network":   {sendJSON(hostileManifest("evil", hostileCapability("do_it", `{"type":"object","properties":{"a":{"$ref":"`+secret.URL+`"}}}`))), contracts.CodeInvalid, "$ref"},
		"a schema without ground": {sendJSON(hostileManifest("evil", hostileCapability("do_it", deepSchema(60)))), contracts.CodeInvalid, "deep"},
		"the same name twice":     {sendJSON(hostileManifest("evil", hostileCapability("do_it", object)+","+hostileCapability("do_it", object))), contracts.CodeInvalid, "do_it"},
		"the good one's name":     {sendJSON(hostileManifest("good", hostileCapability("peek", object))), contracts.CodeInvalid, "good"},
		"JSON that is none":       {sendJSON(`{"schema_version": "1", `), contracts.CodeInvalid, ""},
		"a page of HTML":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, contracts.CodeInvalid, "content type"},
		"10,000 capabilities":     {sendJSON(hostileManifest("evil", strings.Join(many, ","))), contracts.CodeInvalid, "2000"},
		"an unknown key":          {sendJSON(`{"schema_version":"1","domain":"evil","version":"1","capabilities":[],"admin":true}`), contracts.CodeInvalid, "admin"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, good.url+"/manifest", http.StatusFound)
		}, contracts.CodeUnavailable, "redirect"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evil := httptest.NewServer(c.manifest)
			t.Cleanup(evil.Close)
			_, err := s.admin.RegisterDomain(t.Context(), contracts.Registration{Domain: "evil", URL: evil.URL})
			wantCode(t, err, c.code)
			if text := fmt.Sprint(err, faultsOf(err)); !strings.Contains(text, c.says) {
				t.Errorf("the refusal does not say %q: %s", c.says, text)
			}
			s.in(t).stillGood(good)
		})
	}
	t.Cleanup(func() {
		// The test's context has ended when its parallel parts have.
		known, err := s.admin.Domains(context.Background())
		if err != nil || len(known) != 1 {
			t.Errorf("domains: %s (%v), want only the good one", asJSON(known), err)
		}
	})
}

// stillGood sees that the good domain is served as if nothing had happened.
func (s *site) stillGood(d *depot) {
	s.t.Helper()
	view := s.ended(s.run(call(d.name+".peek", map[string]any{"id": "a"})).RunIDs[0])
	if view.State != contracts.RunCompleted {
		s.t.Errorf("the good domain does not answer any more:\n%s", states2text(view))
	}
}

func TestADomainThatTurnsHostileHarmsOnlyItsOwnNodes(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	good := newDepot(t, "good")
	s.register(good.registration())
	const readIt = `{"name":"read_it","schema":{"type":"object"},"metadata":{"side_effect_class":"read","timeout_ms":500,"node_timeout_ms":500}}`
	answers := map[string]http.HandlerFunc{"endless": endless, "drip": drip, "html": sendJSON("<html>")}
	for name, execute := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			mux.Handle("GET /manifest", sendJSON(hostileManifest(name, readIt)))
			mux.Handle("GET /health", http.HandlerFunc(drip))
			mux.Handle("POST /execute", execute)
			evil := httptest.NewServer(mux)
			t.Cleanup(evil.Close)
			here := s.in(t)
			here.register(contracts.Registration{Domain: name, URL: evil.URL})
			r := here.run(call(name+".read_it", nil), call("good.peek", map[string]any{"id": "a"}))
			here.node(r.RunIDs[0], "n2", contracts.NodeCompleted)
			here.stillGood(good)
			view := here.ended(r.RunIDs[0])
			if nodeIn(view, "n1", []contracts.NodeState{contracts.NodeFailed}).Error == nil {
				t.Errorf("the hostile answer was taken:\n%s", states2text(view))
			}
		})
	}
}

func TestADomainThatCannotBeReachedAtTheStart(t *testing.T) {
	t.Parallel()
	d := newDepot(t, "depot")
	late := httptest.NewUnstartedServer(d)
	t.Cleanup(late.Close)
	s := startSite(t, withBootstrap(fmt.Sprintf(`{"domains":[{"domain":"depot","url":"http://%s"}]}`, late.Listener.Addr())))
	known, err := s.admin.Domains(t.Context())
	if err != nil || len(known) != 1 || known[0].Outcome != contracts.DomainStarting {
		t.Fatalf("domains: %s (%v), want one that is starting", asJSON(known), err)
	}
	_, err = s.runWith(contracts.PlanRequest{Intents: []contracts.Intent{call("depot.peek", map[string]any{"id": "a"})}}, contracts.RunPlan{})
	if err == nil {
		t.Error("a capability that nobody has declared was planned")
	}
	late.Start()
	eventually(t, "the domain to be active", func() (any, bool) {
		known, err := s.admin.Domains(t.Context())
		return nil, err == nil && known[0].Outcome == contracts.DomainActive
	})
	s.stillGood(d)
}

func TestAnApprovedWriteToADomainThatIsDownHasNoEffectAndSaysSo(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	front := httptest.NewServer(d)
	s.register(contracts.Registration{Domain: "depot", URL: front.URL})
	run := s.run(d.put("plain", "a", "1")).RunIDs[0]
	gate := s.gates(run, 1)[0]
	front.CloseClientConnections()
	front.Close()
	s.approve(gate)
	n := s.node(run, gate.NodeID, contracts.NodeFailed)
	if n.Error == nil || n.Error.Effect != contracts.EffectNone || len(d.record()) != 0 {
		t.Errorf("error: %s, effects: %+v", asJSON(n.Error), d.record())
	}
}
