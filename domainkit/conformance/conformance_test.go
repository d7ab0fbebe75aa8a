package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/conformance"
)

type item struct {
	Item string `json:"item" min:"1" max:"20"`
	N    int    `json:"n" min:"1" default:"1"`
}

type stockQuery struct {
	Item   string   `json:"item,omitempty" min:"1" max:"20"`
	Items  []string `json:"items,omitempty"`
	Notify bool     `json:"notify,omitempty" only:"manifold"`
}

type stocked struct {
	Item string `json:"item"`
	Left int    `json:"left"`
}

type orderID struct {
	OrderID string `json:"order_id"`
}

type orderQuery struct {
	OrderID string `json:"order_id,omitempty"`
	Key     string `json:"key,omitempty"`
}

type found struct {
	Found   bool   `json:"found"`
	Applied *bool  `json:"applied,omitempty"`
	Item    string `json:"item,omitempty"`
	N       int    `json:"n,omitempty"`
}

// shop is a domain that conforms.
type shop struct {
	mu     sync.Mutex // guards orders
	orders map[string]placed
}

type placed struct {
	item
	key  string
	gone bool
}

// stock refuses parameters that the core never sends.
func (s *shop) stock(_ context.Context, _ domainkit.Call, in stockQuery) (stocked, error) {
	if len(in.Items) > 0 || in.Notify || in.Item == "" {
		return stocked{}, domainkit.Refusef(contracts.ErrInvalidParameters, "got %+v", in)
	}
	return stocked{Item: in.Item, Left: 7}, nil
}

type order struct {
	item
	Price int `json:"price,omitempty"`
}

type itemRef struct {
	Item string `json:"item" min:"1" max:"20"`
}

type choices struct {
	Matches []choice `json:"matches"`
}

type choice struct {
	Value int    `json:"value"`
	Label string `json:"label"`
}

func (s *shop) price(context.Context, domainkit.Call, itemRef) (choices, error) {
	return choices{[]choice{{3, "three"}}}, nil
}

// place takes the price from the look-up, as the core sends it.
func (s *shop) place(_ context.Context, call domainkit.Call, in order) (orderID, error) {
	if in.Price != 3 {
		return orderID{}, domainkit.Refusef(contracts.ErrInvalidParameters, "the price is not %d", in.Price)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("o-%d", len(s.orders)+1)
	s.orders[id] = placed{item: in.item, key: call.IdempotencyKey}
	return orderID{id}, nil
}

func (s *shop) find(_ context.Context, _ domainkit.Call, q orderQuery) (found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, o := range s.orders {
		if id == q.OrderID || q.Key != "" && o.key == q.Key {
			return found{Found: !o.gone, Applied: new(true), Item: o.Item, N: o.N}, nil
		}
	}
	return found{Applied: new(false)}, nil
}

func (s *shop) cancel(_ context.Context, _ domainkit.Call, in orderID) (orderID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.orders[in.OrderID]
	if !ok {
		return orderID{}, domainkit.Refusef(contracts.ErrNotFound, "no order %s", in.OrderID)
	}
	o.gone = true
	s.orders[in.OrderID] = o
	return in, nil
}

const shopHints = `{
	"title": "Shop", "description": "Sells things.",
	"capabilities": [
		{"name": "get_stock", "metadata": {
			"intent_hints": {"examples": ["a", "b", "c", "d", "e"], "not": ["x", "y"]},
			"parameter_specs": {"item": {"ask": "Which?"}}, "present": {"title": "Stock"},
			"decomposition": {"array_params": [{"param_name": "items", "single_param_name": "item"}]},
			"examples": [{"parameters": {"item": "tea", "notify": true}}, {"parameters": {"items": ["milk", "tea"]}}]}},
		{"name": "get_price", "metadata": {"routable": false, "examples": [{"parameters": {"item": "tea"}}]}},
		{"name": "find_order", "metadata": {"routable": false, "examples": [{"parameters": {"order_id": "o-0"}}]}},
		{"name": "place_order", "metadata": {
			"intent_hints": {"examples": ["f", "g", "h", "i", "j"], "not": ["x", "y"]},
			"parameter_specs": {"item": {"ask": "Which?"}}, "present": {"title": "Order"},
			"examples": [{"parameters": {"item": "tea", "n": 3}, "safe": true}],
			"flow": {"pre": [{"type": "price", "param": "price", "search_capability": "get_price", "param_map": {"item": "${params.item}"}}]},
			"verify": {"capability": "find_order", "param_map": {"order_id": "${result.facts.order_id}"}, "assertions": [
				{"path": "facts.item", "equals": "${params.item}"}, {"path": "facts.n", "equals": "${params.n}"}, {"path": "facts.n", "gte": 1}, {"path": "facts.n", "lte": 1000},
				{"path": "facts.found", "in": [true]}, {"path": "facts.missing", "exists": false}]},
			"reconcile": {"capability": "find_order", "param_map": {"key": "${context.idempotency_key}"}},
			"compensation": {"capability": "cancel_order", "param_map": {"order_id": "${result.facts.order_id}"}}}},
		{"name": "cancel_order", "metadata": {"routable": false, "verify": {
			"capability": "find_order", "param_map": {"order_id": "${params.order_id}"}, "assertions": [{"path": "facts.found", "equals": false}]}}}
	],
	"tests": [{"say": "a", "expect": {"capability": "get_stock"}}, {"say": "f", "expect": {"capability": "place_order"}}, {"say": "z", "expect": null}]}`

const token = "secret-of-the-shop"

func newShop(t *testing.T) http.Handler {
	t.Helper()
	s := &shop{orders: map[string]placed{}}
	svc, err := domainkit.New(domainkit.Config{Domain: "shop", Version: "1.0.0", Hints: []byte(shopHints), Tokens: []string{token}})
	if err != nil {
		t.Fatal(err)
	}
	describe := func(name string, class contracts.SideEffectClass, again contracts.Idempotency) domainkit.Capability {
		return domainkit.Capability{Name: name, Description: "It works.", Metadata: contracts.Metadata{SideEffectClass: class, Idempotency: again}}
	}
	err = errors.Join(
		domainkit.Add(svc, describe("get_stock", contracts.ClassRead, ""), s.stock),
		domainkit.Add(svc, describe("get_price", contracts.ClassRead, ""), s.price),
		domainkit.Add(svc, describe("find_order", contracts.ClassRead, ""), s.find),
		domainkit.Add(svc, describe("place_order", contracts.ClassWriteReversible, contracts.IdempotencyKeyed), s.place),
		domainkit.Add(svc, describe("cancel_order", contracts.ClassWriteIrreversible, contracts.IdempotencyNatural), s.cancel),
	)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := svc.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// direct is a transport that calls a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

func run(t *testing.T, h http.Handler, change ...func(*conformance.Options)) conformance.Report {
	t.Helper()
	opt := conformance.Options{URL: "http://shop.test/", Authorization: "Bearer " + token, AllowWrites: true, Transport: direct{h}}
	for _, c := range change {
		c(&opt)
	}
	return conformance.Run(t.Context(), opt)
}

func rules(r conformance.Report, severity conformance.Severity) []string {
	var out []string
	for _, f := range r.Findings() {
		if f.Severity == severity && !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

func TestAGoodDomainPasses(t *testing.T) {
	t.Parallel()
	var progress []string
	r := run(t, newShop(t), func(o *conformance.Options) {
		o.Progress = func(c conformance.Check) { progress = append(progress, c.Name+" "+string(c.Status)) }
	})
	if len(r.Findings()) > 0 || !r.OK() || r.Domain != "shop" || r.Version != "1.0.0" {
		t.Errorf("report of %s %s: %+v", r.Domain, r.Version, r.Findings())
	}
	want := []string{
		"url passed", "health passed", "manifest passed", "authentication passed", "etag passed", "checklist passed", "what passes in silence passed",
		"requests that are refused passed", "read get_stock passed", "read get_price passed", "read find_order passed",
		"write place_order passed", "write cancel_order skipped",
	}
	if diff := cmp.Diff(want, progress); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	for _, c := range r.Checks {
		if strings.Contains(c.Detail, "not checked") {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
}

// TestWhatIsNotThereIsNoDefect: the examples of a manifest may name objects that the system behind
// the domain does not have.
func TestWhatIsNotThereIsNoDefect(t *testing.T) {
	t.Parallel()
	for capability, check := range map[string]string{"get_stock": "read get_stock", "place_order": "write place_order", "get_price": "write place_order"} {
		asked := func(path string, r contracts.ExecuteRequest) bool {
			return working(capability)(path, r) && r.Context.Operation == ""
		}
		gone := answer(asked, 200, isJSON, `{"ok":false,"error":{"type":"not_found","message":"there is no tea"}}`)
		r := run(t, gone(newShop(t)))
		at := slices.IndexFunc(r.Checks, func(c conformance.Check) bool { return c.Name == check })
		if !r.OK() || r.Checks[at].Status != conformance.StatusSkipped || !strings.Contains(r.Checks[at].Detail, "there is no tea") {
			t.Errorf("%s: %+v; findings %+v", capability, r.Checks[at], r.Findings())
		}
	}
}

func TestWritesAreLeftAloneUnlessAllowed(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	h := newShop(t)
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, request := body(r)
		if request.Capability == "place_order" || request.Capability == "cancel_order" {
			writes.Add(1)
		}
		h.ServeHTTP(w, with(r, raw))
	})
	r := run(t, counted, func(o *conformance.Options) { o.AllowWrites = false })
	if writes.Load() != 0 || !r.OK() {
		t.Errorf("%d writes were sent; findings %+v", writes.Load(), r.Findings())
	}
}

// body reads the body of a request; with replaces it.
func body(r *http.Request) ([]byte, contracts.ExecuteRequest) {
	raw, _ := io.ReadAll(r.Body)
	var request contracts.ExecuteRequest
	_ = json.Unmarshal(raw, &request)
	return raw, request
}

func with(r *http.Request, raw []byte) *http.Request {
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(raw))
	out.ContentLength = int64(len(raw))
	return out
}

// answer returns a middleware that answers some requests itself.
func answer(when func(path string, request contracts.ExecuteRequest) bool, status int, contentType, text string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw, request := body(r)
			if !when(r.URL.Path, request) {
				next.ServeHTTP(w, with(r, raw))
				return
			}
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		})
	}
}

func path(want string) func(string, contracts.ExecuteRequest) bool {
	return func(path string, _ contracts.ExecuteRequest) bool { return path == want }
}

// working matches a call of a capability with valid parameters.
func working(capability string) func(string, contracts.ExecuteRequest) bool {
	return func(_ string, r contracts.ExecuteRequest) bool {
		_, isText := r.Parameters["item"].(string)
		return r.Capability == capability && (isText || r.Parameters["item"] == nil)
	}
}

// rewrite returns a middleware that changes requests.
func rewrite(change func(*contracts.ExecuteRequest)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw, request := body(r)
			if r.URL.Path == "/execute" && json.Valid(raw) && raw[0] == '{' {
				change(&request)
				raw, _ = json.Marshal(request)
				r.Header.Del("Idempotency-Key")
			}
			next.ServeHTTP(w, with(r, raw))
		})
	}
}

// header returns a middleware that changes the headers of responses.
func header(change func(http.Header)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			change(rec.Header())
			maps.Copy(w.Header(), rec.Header())
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes())
		})
	}
}

const (
	isJSON = "application/json"
	okJSON = `{"ok":true,"summary":"fine","facts":{"item":"tea","left":1,"order_id":"o-1","found":true}}`
)

func TestDefectsAreFound(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	tests := map[string]struct {
		defect func(http.Handler) http.Handler
		want   []string // rules of severity error
	}{
		"health is text":                {answer(path("/health"), 200, "text/plain", "ok"), []string{"health"}},
		"health is 503":                 {answer(path("/health"), 503, isJSON, `{"status":"ok"}`), []string{"health"}},
		"health says an unknown word":   {answer(path("/health"), 200, isJSON, `{"status":"great"}`), []string{"health"}},
		"health says down":              {answer(path("/health"), 200, isJSON, `{"status":"down"}`), []string{"health"}},
		"the credential is not taken":   {answer(path("/health"), 401, isJSON, `{}`), []string{"authorization"}},
		"the manifest is missing":       {answer(path("/manifest"), 404, isJSON, `{}`), []string{"manifest"}},
		"the manifest is broken":        {answer(path("/manifest"), 200, isJSON, `{"domain":"shop","colour":1}`), []string{"manifest"}},
		"there is no ETag":              {header(func(h http.Header) { h.Del("ETag") }), []string{"etag"}},
		"the ETag is not compared":      {dropHeader("If-None-Match"), []string{"etag"}},
		"the ETag always changes":       {header(func(h http.Header) { h.Set("ETag", fmt.Sprint(n.Add(1))) }), []string{"etag"}},
		"nobody has to authenticate":    {authenticated, []string{"authentication"}},
		"an unknown capability is fine": {answer(func(_ string, r contracts.ExecuteRequest) bool { return strings.HasPrefix(r.Capability, "conf") }, 200, isJSON, okJSON), []string{"authentication", "unknown-capability"}},
		"a poll starts the work":        {rewrite(func(r *contracts.ExecuteRequest) { r.Context.Operation = "" }), []string{"unknown-operation"}},
		"garbage is executed":           {answer(func(path string, r contracts.ExecuteRequest) bool { return path == "/execute" && r.Capability == "" }, 200, isJSON, okJSON), []string{"garbage"}},
		"wrong parameters are executed": {answer(func(_ string, r contracts.ExecuteRequest) bool { return r.Capability == "get_stock" }, 200, isJSON, okJSON), []string{"unknown-operation", "wrong-parameters"}},
		"a look-up gives no value":      {answer(working("get_price"), 200, isJSON, `{"ok":true,"summary":"none","facts":{"matches":[]}}`), []string{"look-up"}},
		"a read breaks":                 {answer(working("get_stock"), 500, isJSON, `{"error":"x"}`), []string{"execute-status"}},
		"a read answers a page":         {answer(working("get_stock"), 200, "text/html", "<p>"), []string{"tool-result"}},
		"a read fails":                  {answer(working("get_stock"), 200, isJSON, `{"ok":false,"error":{"type":"upstream","message":"no"}}`), []string{"example-fails"}},
		"facts break their schema":      {answer(working("get_stock"), 200, isJSON, `{"ok":true,"summary":"s","facts":{"item":"tea","left":"few"}}`), []string{"output-schema"}},
		"facts are missing":             {answer(working("get_stock"), 200, isJSON, `{"ok":true,"summary":"s"}`), []string{"output-schema"}},
		"keys are ignored": {
			rewrite(func(r *contracts.ExecuteRequest) { r.Context.IdempotencyKey += fmt.Sprint(n.Add(1)) }),
			[]string{"idempotency-concurrent", "idempotency-repeat", "idempotency-conflict", "reconcile"},
		},
		"keys are bound to nothing": {
			rewrite(func(r *contracts.ExecuteRequest) {
				if r.Capability == "place_order" && r.Context.Operation == "" {
					r.Parameters["n"] = 3
				}
			}), []string{"idempotency-conflict"},
		},
		"the write is not to be found":         {answer(working("find_order"), 200, isJSON, `{"ok":true,"summary":"s","facts":{"found":false,"applied":false}}`), []string{"verify", "reconcile"}},
		"the read-back has another number":     {answer(working("find_order"), 200, isJSON, `{"ok":true,"summary":"s","facts":{"found":true,"item":"tea","n":99}}`), []string{"verify"}},
		"every key is said to have worked":     {answer(working("find_order"), 200, isJSON, `{"ok":true,"summary":"s","facts":{"found":true,"applied":true,"item":"tea","n":3}}`), []string{"reconcile"}},
		"the compensation fails":               {answer(working("cancel_order"), 200, isJSON, `{"ok":false,"error":{"type":"internal","message":"x"}}`), []string{"compensation"}},
		"a domain that takes longer than told": {slowly, []string{"timeout"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.defect(newShop(t)))
			got := rules(r, conformance.SeverityError)
			for _, rule := range tt.want {
				if !slices.Contains(got, rule) {
					t.Errorf("got %q, want %q: %+v", got, rule, r.Findings())
				}
			}
			for _, f := range r.Findings() {
				if f.Message == "" {
					t.Errorf("a finding says nothing: %+v", f)
				}
			}
		})
	}
}

// dropHeader returns a middleware that removes a header from requests.
func dropHeader(name string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del(name)
			next.ServeHTTP(w, r)
		})
	}
}

// patient answers 202 to every valid call, and then answers the poll.
func patient(next http.Handler) http.Handler {
	fits := working("get_stock")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, request := body(r)
		switch {
		case !fits("", request) || len(request.Parameters) == 0:
		case request.Context.Operation == "":
			w.Header().Set("Content-Type", isJSON)
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"operation":"op-1"}`)
			return
		case request.Context.Operation == "op-1":
			request.Context.Operation = ""
			raw, _ = json.Marshal(request)
		}
		next.ServeHTTP(w, with(r, raw))
	})
}

func TestWorkThatIsAcceptedIsAskedFor(t *testing.T) {
	t.Parallel()
	if r := run(t, patient(newShop(t))); len(r.Findings()) > 0 {
		t.Errorf("findings %+v", r.Findings())
	}
}

// authenticated returns a middleware that adds the credential to requests.
func authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		next.ServeHTTP(w, r)
	})
}

// slowly declares a timeout that it exceeds.
func slowly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, request := body(r)
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, with(r, raw))
		text := rec.Body.String()
		if r.URL.Path == "/manifest" {
			text = strings.Replace(text, `"side_effect_class":"read"`, `"side_effect_class":"read","timeout_ms":1`, 1)
		}
		if request.Capability == "get_stock" {
			<-time.After(5 * time.Millisecond)
		}
		for name, values := range rec.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(rec.Code)
		_, _ = io.WriteString(w, text)
	})
}

func TestWeaknessesAreWarnings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		defect func(http.Handler) http.Handler
		want   string
	}{
		"bare JSON":            {answer(working("get_stock"), 200, isJSON, `{"item":"tea","left":1}`), "bare-json"},
		"no summary":           {answer(working("get_stock"), 200, isJSON, `{"ok":true,"facts":{"item":"tea","left":1}}`), "summary"},
		"a long summary":       {answer(working("get_stock"), 200, isJSON, `{"ok":true,"summary":"`+strings.Repeat("x", 400)+`","facts":{"item":"tea","left":1}}`), "summary"},
		"no version in health": {answer(path("/health"), 200, isJSON, `{"status":"degraded"}`), "health-version"},
		"wrong parameters with 200": {answer(func(_ string, r contracts.ExecuteRequest) bool {
			return !working("get_stock")("", r) && r.Capability == "get_stock"
		}, 200, isJSON, `{"ok":false,"error":{"type":"invalid_parameters","message":"no"}}`), "wrong-parameters-status"},
		"dry runs are really executed": {rewrite(func(r *contracts.ExecuteRequest) { r.Context.DryRun = false }), "dry-run"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.defect(newShop(t)))
			if got := rules(r, conformance.SeverityWarning); !slices.Contains(got, tt.want) {
				t.Errorf("got %q, want %q: %+v", got, tt.want, r.Findings())
			}
		})
	}
}

func TestTheChecklist(t *testing.T) {
	t.Parallel()
	manifest := `{"schema_version":"1","domain":"bare","version":"1","capabilities":[
		{"name":"look","schema":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]},"metadata":{"side_effect_class":"read"}},
		{"name":"post","schema":{"type":"object"},"metadata":{}},
		{"name":"swap","schema":{"type":"object"},"metadata":{"side_effect_class":"write_reversible","idempotency":"keyed","routable":false,
			"verify":{"capability":"look","param_map":{"q":"${result.facts.x}"},"assertions":[{"path":"facts.x","exists":true}]}}}]}`
	r := run(t, answer(path("/manifest"), 200, isJSON, manifest)(newShop(t)))
	if len(r.Checks) < 6 || r.Checks[5].Name != "checklist" {
		t.Fatalf("no checklist: %+v", r)
	}
	var got []string
	for _, f := range r.Checks[5].Findings {
		if f.Severity != conformance.SeverityWarning || f.Fix == "" {
			t.Errorf("finding %+v, want a warning with a fix", f)
		}
		got = append(got, f.Rule+" "+f.Pointer)
	}
	want := []string{
		"described ", "tests /tests",
		"described /capabilities/0/description", "output-schema /capabilities/0/output_schema", "examples /capabilities/0/metadata/examples",
		"intent-examples /capabilities/0/metadata/intent_hints/examples", "intent-not /capabilities/0/metadata/intent_hints/not",
		"present /capabilities/0/metadata/present", "ask /capabilities/0/metadata/parameter_specs/q/ask", "tests /tests",
		"described /capabilities/1/description", "side-effect-class /capabilities/1/metadata/side_effect_class",
		"idempotency /capabilities/1/metadata/idempotency", "verify /capabilities/1/metadata/verify", "reconcile /capabilities/1/metadata/reconcile",
		"intent-examples /capabilities/1/metadata/intent_hints/examples", "intent-not /capabilities/1/metadata/intent_hints/not",
		"present /capabilities/1/metadata/present", "tests /tests",
		"described /capabilities/2/description", "output-schema /capabilities/2/output_schema",
		"reconcile /capabilities/2/metadata/reconcile", "compensation /capabilities/2/metadata/compensation",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checklist (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "shop", "ftp://shop.test", "http://"} {
		r := conformance.Run(t.Context(), conformance.Options{URL: url})
		if got := rules(r, conformance.SeverityError); len(got) != 1 || got[0] != "url" {
			t.Errorf("%q: findings %q, want url", url, got)
		}
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	r := conformance.Run(t.Context(), conformance.Options{URL: closed.URL})
	if got := rules(r, conformance.SeverityError); len(got) != 1 || got[0] != "reachable" || len(r.Checks) != 2 {
		t.Errorf("findings %q in %d checks, want reachable and no more", got, len(r.Checks))
	}
}

func TestAStoppedSuiteSkips(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	r := conformance.Run(ctx, conformance.Options{
		URL: "http://shop.test", Authorization: "Bearer " + token, Transport: direct{newShop(t)},
		Progress: func(c conformance.Check) {
			if c.Name == "etag" {
				stop()
			}
		},
	})
	last := r.Checks[len(r.Checks)-1]
	if last.Status != conformance.StatusSkipped || last.Detail != "the suite was stopped" {
		t.Errorf("last check %+v, want skipped", last)
	}
}
