package domainkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

type quoteIn struct {
	Symbol   string `json:"symbol" pattern:"^[A-Z]+$"`
	Currency string `json:"currency" enum:"USD,EUR" default:"USD"`
	Filter   struct {
		Limit int `json:"limit" default:"7"`
	} `json:"filter,omitzero"`
}

type quote struct {
	Symbol   string   `json:"symbol"`
	Currency string   `json:"currency"`
	Limit    int      `json:"limit"`
	Price    float64  `json:"price" min:"0"`
	Tags     []string `json:"tags"`
}

// quotes is a service with one read, get_quote.
func quotes(t *testing.T, fn func(context.Context, domainkit.Call, quoteIn) (quote, error), change ...func(*domainkit.Config)) *caller {
	t.Helper()
	svc := newService(t, change...)
	if err := domainkit.Add(svc, read("get_quote"), fn); err != nil {
		t.Fatal(err)
	}
	return newCaller(t, svc)
}

func plainQuote(_ context.Context, _ domainkit.Call, in quoteIn) (quote, error) {
	return quote{Symbol: in.Symbol, Currency: in.Currency, Limit: in.Filter.Limit, Price: 12.5}, nil
}

func TestExecuteAnswersWithFacts(t *testing.T) {
	t.Parallel()
	c := quotes(t, plainQuote)
	got := c.execute("get_quote", `{"symbol":"ABC","filter":{}}`, "").want(t, 200)
	want := `{"ok":true,"summary":"symbol: ABC, currency: USD, limit: 7, price: 12.5",` +
		`"facts":{"currency":"USD","limit":7,"price":12.5,"symbol":"ABC","tags":[]}}`
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if ct := got.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("content type %q", ct)
	}
}

// TestAReadThatWaitsSaysForWhat, and when to retry. This is not a failure and stores nothing.
func TestAReadThatWaitsSaysForWhat(t *testing.T) {
	t.Parallel()
	decided := false
	c := quotes(t, func(ctx context.Context, call domainkit.Call, in quoteIn) (quote, error) {
		if !decided {
			return quote{}, fmt.Errorf("quote: %w", domainkit.Waitf(90*time.Minute, "waits for the decision of %s", in.Symbol))
		}
		return plainQuote(ctx, call, in)
	})
	got := c.execute("get_quote", `{"symbol":"ABC"}`, "").want(t, 429)
	if got.Header.Get("Retry-After") != "5400" || !strings.Contains(got.Body, `"message":"waits for the decision of ABC"`) {
		t.Errorf("%v %s", got.Header, got.Body)
	}
	decided = true
	c.execute("get_quote", `{"symbol":"ABC"}`, "").want(t, 200)
}

func TestExecuteRefusesBadRequests(t *testing.T) {
	t.Parallel()
	called := false
	c := quotes(t, func(context.Context, domainkit.Call, quoteIn) (quote, error) {
		called = true
		return quote{}, nil
	}, func(config *domainkit.Config) { config.MaxBodyBytes = 2000 })
	const good = `{"capability":"get_quote","parameters":{"symbol":"ABC"},"context":{}}`
	tests := map[string]struct {
		method, path, body, contentType string
		status                          int
		want                            string
	}{
		"another method":                 {method: "GET", body: good, status: 405},
		"another path":                   {path: "/run", body: good, status: 404},
		"another content type":           {body: good, contentType: "text/plain", status: 415, want: "application/json"},
		"no content type":                {body: good, contentType: " ", status: 415},
		"an empty body":                  {status: 400, want: "no JSON"},
		"no JSON":                        {body: "symbol=ABC", status: 400, want: "no JSON"},
		"half a body":                    {body: good[:30], status: 400},
		"trailing garbage":               {body: good + "}", status: 400, want: "more after"},
		"a second object":                {body: good + " " + good, status: 400, want: "more after"},
		"a body that is too large":       {body: `{"capability":"` + strings.Repeat("x", 3000) + `"}`, status: 413, want: "2000 bytes"},
		"too much after the object":      {body: good + strings.Repeat(" ", 3000), status: 400},
		"a list instead of an object":    {body: `[1]`, status: 400},
		"a wrong type in the context":    {body: `{"capability":"get_quote","context":{"attempt":"first"}}`, status: 400, want: "context.attempt"},
		"a negative time":                {body: `{"capability":"get_quote","context":{"timeout_ms":-1}}`, status: 400, want: "timeout_ms"},
		"an unknown capability":          {body: `{"capability":"drop_all","parameters":{}}`, status: 404, want: `no capability \"drop_all\"`},
		"parameters that are a list":     {body: `{"capability":"get_quote","parameters":[1]}`, status: 400, want: "must be an object"},
		"parameters that are a text":     {body: `{"capability":"get_quote","parameters":"{}"}`, status: 400, want: "must be an object"},
		"no parameters where some must":  {body: `{"capability":"get_quote"}`, status: 400, want: "symbol"},
		"a parameter of the wrong form":  {body: `{"capability":"get_quote","parameters":{"symbol":"abc"}}`, status: 400, want: `"pointer":"/symbol"`},
		"an unknown parameter":           {body: `{"capability":"get_quote","parameters":{"symbol":"ABC","symbl":1}}`, status: 400, want: "symbl"},
		"a value outside the enum":       {body: `{"capability":"get_quote","parameters":{"symbol":"ABC","currency":"XYZ"}}`, status: 400, want: "/currency"},
		"two keys":                       {body: `{"capability":"get_quote","parameters":{"symbol":"ABC"},"context":{"idempotency_key":"b"}}`, status: 400, want: "differ"},
		"a key without end":              {body: `{"capability":"get_quote","parameters":{"symbol":"ABC"},"context":{"idempotency_key":"` + strings.Repeat("k", 300) + `"}}`, status: 400, want: "differ"},
		"an operation that is not known": {body: `{"capability":"get_quote","parameters":{"symbol":"ABC"},"context":{"operation":"x"}}`, status: 410, want: "no operation"},
	}
	for name, tt := range tests {
		headers := []string{"Content-Type", "application/json"}
		if tt.contentType != "" {
			headers[1] = strings.TrimSpace(tt.contentType)
		}
		if strings.Contains(tt.want, "differ") {
			headers = append(headers, "Idempotency-Key", "a")
		}
		method, path := tt.method, tt.path
		if method == "" {
			method = "POST"
		}
		if path == "" {
			path = "/execute"
		}
		got := c.do(method, path, tt.body, headers...)
		if got.Status != tt.status || !strings.Contains(got.Body, tt.want) {
			t.Errorf("%s: status %d, body %s; want %d with %q", name, got.Status, got.Body, tt.status, tt.want)
		}
	}
	if called {
		t.Error("a bad request reached the handler")
	}
}

// FuzzExecute checks that no body stops the service or reaches the handler with invalid parameters.
func FuzzExecute(f *testing.F) {
	f.Add([]byte(`{"capability":"get_quote","parameters":{"symbol":"ABC","filter":{"limit":1}},"context":{"timeout_ms":5}}`))
	f.Add([]byte(`{"capability":"get_quote","parameters":{"symbol":"ABC","currency":null},"context":null}`))
	f.Add([]byte(`{"capability":"get_quote","parameters":{"symbol":"A","symbol":"b"}}{}`))
	f.Add([]byte(`{"capability":"get_quote","parameters":[[[[`))
	f.Add([]byte("{\"capability\":\"get_quote\",\"parameters\":{\"symbol\":\"\xff\",\"filter\":{\"limit\":1e400}}}"))
	svc, err := domainkit.New(domainkit.Config{Domain: "shop", Version: "1"})
	if err != nil {
		f.Fatal(err)
	}
	symbol := regexp.MustCompile("^[A-Z]+$")
	err = domainkit.Add(svc, read("get_quote"), func(_ context.Context, _ domainkit.Call, in quoteIn) (quote, error) {
		if !symbol.MatchString(in.Symbol) || in.Currency != "USD" && in.Currency != "EUR" {
			return quote{}, fmt.Errorf("reached with %+v", in)
		}
		return quote{}, nil
	})
	if err != nil {
		f.Fatal(err)
	}
	handler, err := svc.Handler()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/execute", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var out contracts.ToolResult
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code >= 500 {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		if out.Error != nil && out.Error.Type == contracts.ErrInternal {
			t.Fatalf("%s: %s", body, w.Body)
		}
	})
}

func TestExecuteIgnoresWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	c := quotes(t, plainQuote)
	body := `{"capability":"get_quote","parameters":{"symbol":"ABC"},"context":{"from_the_future":1,"capability_digest":"other"},"more":[]}`
	c.do("POST", "/execute", body).want(t, 200)
}

func TestHandlersSeeTheCall(t *testing.T) {
	t.Parallel()
	var got domainkit.Call
	c := quotes(t, func(_ context.Context, call domainkit.Call, in quoteIn) (quote, error) {
		got = call
		return quote{}, nil
	}, func(config *domainkit.Config) {
		config.Instances = []contracts.Instance{{ID: "test"}, {ID: "live", Default: true}}
	})
	c.execute("get_quote", `{"symbol":"ABC"}`, `"run_id":"r1","node_id":"n1","attempt":2,"phase":"plan","principal":{"id":"ana","roles":["x"]}`,
		"Traceparent", "00-1-2-01").want(t, 200)
	want := domainkit.Call{Capability: "get_quote", Traceparent: "00-1-2-01", ExecuteContext: contracts.ExecuteContext{
		RunID: "r1", NodeID: "n1", Attempt: 2, Phase: "plan", Instance: "live",
		Principal: contracts.Principal{ID: "ana", Roles: []string{"x"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	c.execute("get_quote", `{"symbol":"ABC"}`, `"instance":"test"`).want(t, 200)
	if got.Instance != "test" {
		t.Errorf("instance %q, want the one that was asked for", got.Instance)
	}
	c.execute("get_quote", `{"symbol":"ABC"}`, `"instance":"none"`).want(t, 200).wantError(t, contracts.ErrNotFound)
}

func TestErrorsOfHandlers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err    error
		status int
		want   contracts.ToolError
	}{
		"a refusal is passed on": {
			fmt.Errorf("look up: %w", domainkit.Refusef(contracts.ErrNotFound, "no symbol %s", "ABC")), 200,
			contracts.ToolError{Type: contracts.ErrNotFound, Message: "no symbol ABC", Effect: contracts.EffectNone},
		},
		"a retryable refusal says so": {
			domainkit.Retryf("domain.closed", "closed"), 200,
			contracts.ToolError{Type: "domain.closed", Message: "closed", Retryable: true, Effect: contracts.EffectNone},
		},
		"a forbidden call is a 403": {
			domainkit.Forbiddenf("not yours"), 403,
			contracts.ToolError{Type: contracts.ErrUnauthorized, Message: "not yours", Effect: contracts.EffectNone},
		},
		"any other error hides its text": {
			errors.New("password=hunter2"), 200,
			contracts.ToolError{Type: contracts.ErrInternal, Message: "get_quote met an internal error; the log of the domain says more", Retryable: true, Effect: contracts.EffectNone},
		},
		"the end of time is a timeout": {
			fmt.Errorf("ask upstream: %w", context.DeadlineExceeded), 200,
			contracts.ToolError{Type: contracts.ErrTimeout, Message: "get_quote was not done in time", Retryable: true, Effect: contracts.EffectNone},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged bytes.Buffer
			c := quotes(t, func(context.Context, domainkit.Call, quoteIn) (quote, error) { return quote{}, tt.err },
				func(config *domainkit.Config) { config.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
			got := c.execute("get_quote", `{"symbol":"ABC"}`, "").want(t, tt.status)
			if diff := cmp.Diff(&tt.want, got.Result.Error); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if hidden := tt.want.Type == contracts.ErrInternal; hidden && !strings.Contains(logged.String(), "hunter2") {
				t.Error("the log does not say what happened")
			}
			if strings.Contains(logged.String(), "ABC") && tt.want.Type == contracts.ErrInternal {
				t.Error("parameters were logged")
			}
		})
	}
}

// crash panics like a faulty handler.
func crash() {
	none := make([]int, 0)
	_ = none[len(none)]
}

// writeCap is a write without idempotency keys.
func writeCap(name string) domainkit.Capability {
	return domainkit.Capability{Name: name, Metadata: contracts.Metadata{
		SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyNone,
	}}
}

func TestUnexpectedErrorsOfWritesHaveAnUnknownEffect(t *testing.T) {
	t.Parallel()
	tests := map[string]func() (plain, error){
		"an error": func() (plain, error) { return plain{}, errors.New("connection reset") },
		"a panic":  func() (plain, error) { crash(); return plain{}, nil },
		"a type that says nothing of the effect": func() (plain, error) {
			return plain{}, &contracts.ToolError{Type: contracts.ErrUpstream, Message: "lost"}
		},
	}
	for name, fn := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc := newService(t)
			if err := domainkit.Add(svc, writeCap("post"), func(context.Context, domainkit.Call, plain) (plain, error) { return fn() }); err != nil {
				t.Fatal(err)
			}
			got := newCaller(t, svc).execute("post", `{}`, "").want(t, 200)
			if e := got.Result.Error; e == nil || e.Effect != contracts.EffectUnknown || e.Retryable {
				t.Errorf("got %s, want effect unknown and no retry", got.Body)
			}
		})
	}
}

func TestFactsAreHeldToTheirSchema(t *testing.T) {
	t.Parallel()
	bad := func(context.Context, domainkit.Call, quoteIn) (quote, error) { return quote{Price: -1}, nil }
	got := quotes(t, bad).execute("get_quote", `{"symbol":"ABC"}`, "").want(t, 200)
	if e := got.wantError(t, contracts.ErrInternal); !strings.Contains(e.Message, "price") {
		t.Errorf("the error does not say which fact: %s", e.Message)
	}
	svc := newService(t)
	if err := domainkit.Add(svc, writeCap("post"), bad); err != nil {
		t.Fatal(err)
	}
	if got := newCaller(t, svc).execute("post", `{"symbol":"ABC"}`, "").want(t, 200); !got.Result.OK || got.Result.Facts["price"] != -1.0 {
		t.Errorf("a write with faulty facts: %s; want ok, because it was done", got.Body)
	}
}

func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 20<<10)
	svc := newService(t)
	answer := func(context.Context, domainkit.Call, json.RawMessage) (contracts.ToolResult, error) {
		return contracts.ToolResult{OK: true, Summary: strings.Repeat("long ", 100), Facts: map[string]any{"text": huge}}, nil
	}
	c := read("get_text")
	c.Schema = json.RawMessage(`{"type":"object"}`)
	if err := domainkit.AddRaw(svc, c, answer); err != nil {
		t.Fatal(err)
	}
	got := newCaller(t, svc).execute("get_text", `{}`, "").want(t, 200)
	if e := got.wantError(t, contracts.ErrInternal); !strings.Contains(e.Message, "facts") {
		t.Errorf("the error does not name the limit: %s", e.Message)
	}
}

type worded struct {
	N int `json:"n"`
}

func (w worded) Summary() string { return fmt.Sprintf("there are\n%d of them", w.N) }

func TestResults(t *testing.T) {
	t.Parallel()
	svc := newService(t)
	err := errors.Join(
		domainkit.Add(svc, read("own_words"), func(context.Context, domainkit.Call, plain) (worded, error) { return worded{3}, nil }),
		domainkit.Add(svc, read("no_words"), func(context.Context, domainkit.Call, plain) (plain, error) { return plain{}, nil }),
		domainkit.Add(svc, read("everything"), func(context.Context, domainkit.Call, plain) (domainkit.Result[worded], error) {
			return domainkit.Result[worded]{
				Facts: worded{4}, Data: []int{1}, Artifacts: map[string]any{"report": map[string]any{"a": 1}},
			}, nil
		}),
		domainkit.Add(svc, read("said"), func(context.Context, domainkit.Call, plain) (domainkit.Result[worded], error) {
			return domainkit.Result[worded]{Facts: worded{5}, Summary: "five"}, nil
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, svc)
	want := map[string]string{
		"own_words":  `{"ok":true,"summary":"there are 3 of them","facts":{"n":3}}`,
		"no_words":   `{"ok":true,"summary":"done"}`,
		"everything": `{"ok":true,"summary":"there are 4 of them","facts":{"n":4},"data":[1],"artifacts":{"report":{"a":1}}}`,
		"said":       `{"ok":true,"summary":"five","facts":{"n":5}}`,
	}
	for name, body := range want {
		if got := c.execute(name, `{}`, "").want(t, 200); got.Body != body {
			t.Errorf("%s: got %s, want %s", name, got.Body, body)
		}
	}
}

func TestDryRuns(t *testing.T) {
	t.Parallel()
	svc, ran := newService(t), map[string]bool{}
	tryable := writeCap("try")
	tryable.Metadata.DryRun, tryable.Metadata.Idempotency = true, contracts.IdempotencyKeyed
	do := func(_ context.Context, call domainkit.Call, _ plain) (plain, error) {
		ran[call.Capability] = call.DryRun
		return plain{}, nil
	}
	if err := errors.Join(domainkit.Add(svc, writeCap("post"), do), domainkit.Add(svc, tryable, do), domainkit.Add(svc, read("look"), do)); err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, svc)
	c.execute("post", `{}`, `"dry_run":true`).want(t, 200).wantError(t, contracts.ErrPrecondition)
	for _, name := range []string{"try", "look"} {
		if got := c.execute(name, `{}`, `"dry_run":true`).want(t, 200); !got.Result.OK {
			t.Errorf("dry run of %s: %s", name, got.Body)
		}
	}
	if diff := cmp.Diff(map[string]bool{"try": true, "look": true}, ran); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
	// A dry run stores nothing under its key.
	c.execute("try", `{}`, `"dry_run":true,"idempotency_key":"k"`).want(t, 200)
	c.execute("try", `{}`, `"idempotency_key":"k"`).want(t, 200)
	if ran["try"] {
		t.Error("the real call was answered from the dry run")
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	c := quotes(t, plainQuote, func(config *domainkit.Config) { config.Tokens = []string{"old", "new"} })
	tests := map[string]struct {
		header string
		status int
	}{
		"no credential":            {"", 401},
		"a wrong token":            {"Bearer older", 401},
		"a token in another case":  {"Bearer NEW", 401},
		"another scheme":           {"Basic new", 401},
		"the scheme alone":         {"Bearer", 401},
		"the first token":          {"Bearer old", 200},
		"the second token":         {"Bearer new", 200},
		"schemes ignore the case":  {"bearer new", 200},
		"a token and more, spaced": {"Bearer new x", 401},
	}
	for name, tt := range tests {
		for _, path := range []string{"/health", "/manifest", "/execute"} {
			method, body := http.MethodGet, ""
			if path == "/execute" {
				method, body = http.MethodPost, `{"capability":"get_quote","parameters":{"symbol":"ABC"}}`
			}
			if got := c.do(method, path, body, "Authorization", tt.header); got.Status != tt.status {
				t.Errorf("%s at %s: status %d, want %d", name, path, got.Status, tt.status)
			}
		}
	}
}
