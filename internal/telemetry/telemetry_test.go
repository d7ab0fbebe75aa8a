package telemetry_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// site is a server with a domain whose requests are recorded, and a model that understands
// nothing.
type site struct {
	server *app.App
	log    *apptest.Log
	admin  *client.Client
	rita   *client.Client
	key    string // rita's

	mu      sync.Mutex // guards the fields below
	parents []string   // traceparent of each call of the domain
	broken  bool       // the domain rejects calls
}

func start(t *testing.T, env map[string]string, change ...func(*app.Config)) *site {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	s := &site{log: &apptest.Log{}}
	cfg := app.Config{
		Addr: "127.0.0.1:0", DataDir: t.TempDir(), Version: "test", Bootstrap: []byte(`{"domains":[{"domain":"finance","url":"` + s.domain(t) + `"}]}`),
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)), Telemetry: app.Telemetry{Getenv: os.Getenv},
		Links: app.ApprovalLinks{PublicURL: "https://manifold.example.com"},
		Mind:  app.LanguageModel{Model: app.ModelConfig{Engine: app.EngineOpenAI, Model: "tiny", BaseURL: model(t)}},
	}
	for _, c := range change {
		c(&cfg)
	}
	s.server = apptest.Start(t, cfg)
	if err := s.server.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.admin = apptest.Client(t, client.Config{URL: s.server.URL(), Key: apptest.Key(t, s.server.AdminKeyFile())})
	key, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: "rita", Roles: []string{"operator"}})
	if err != nil {
		t.Fatal(err)
	}
	s.key = key.Text
	s.rita = apptest.Client(t, client.Config{URL: s.server.URL(), Key: key.Text})
	return s
}

// domain serves stocks behind a proxy that records the trace headers of the calls.
func (s *site) domain(t *testing.T) string {
	t.Helper()
	stocks, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(domaintest.Serve(t, stocks))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/execute" {
			s.mu.Lock()
			s.parents = append(s.parents, r.Header.Get("Traceparent"))
			broken := s.broken
			s.mu.Unlock()
			if broken {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"ok":false,"summary":"refused","error":{"type":"precondition","message":"refused"}}`)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func model(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","model":"tiny","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":101,"completion_tokens":7,"total_tokens":108}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// asked sends a request of rita with a trace context and returns the run.
func (s *site) asked(t *testing.T, traceparent string) contracts.RunView {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL()+"/v1/sessions", strings.NewReader(`{"message":"what is the stock price of Apple"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "wait=30")
	req.Header.Set("Traceparent", traceparent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var session contracts.SessionResponse
	if err := json.NewDecoder(res.Body).Decode(&session); err != nil || len(session.RunIDs) != 1 {
		t.Fatalf("%d %+v %v", res.StatusCode, session, err)
	}
	run, err := client.AwaitRun(t.Context(), s.rita, session.RunIDs[0])
	if err != nil || s.worked() != (run.State == contracts.RunCompleted) {
		t.Fatalf("%s: %v", run.State, err)
	}
	return run
}

func (s *site) worked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.broken
}

// TestOneTraceOfTenIsSentAndEachFailure checks the default sampler: of callers without a trace,
// one run in ten is exported, by its id, and every failed run.
func TestOneTraceOfTenIsSentAndEachFailure(t *testing.T) {
	c, env := byFormat(t, "http/protobuf")
	s := start(t, env, func(c *app.Config) { c.SessionsPerMinute, c.SessionBurst = 1000, 1000 })
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	var want []string
	sampler := sdktrace.TraceIDRatioBased(0.1)
	for range 12 {
		run := s.asked(t, caller)
		id, err := trace.TraceIDFromHex(run.TraceID)
		if err != nil {
			t.Fatal(err)
		}
		flag := "-00"
		if sampler.ShouldSample(sdktrace.SamplingParameters{TraceID: id}).Decision == sdktrace.RecordAndSample {
			want, flag = append(want, run.TraceID), "-01"
		}
		s.mu.Lock()
		if last := s.parents[len(s.parents)-1]; !strings.HasPrefix(last, "00-"+run.TraceID) || !strings.HasSuffix(last, flag) {
			t.Errorf("the domain is told %q, want the trace %s and %s", last, run.TraceID, flag)
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.broken = true
	s.mu.Unlock()
	failed := s.asked(t, caller)
	apptest.Stop(t, s.server)
	want = append(want, failed.TraceID)
	var got []string
	for _, span := range c.spans {
		switch span.GetName() {
		case "run":
			got = append(got, hex.EncodeToString(span.GetTraceId()))
		case "POST /v1/sessions":
			t.Error("a request is sent whose caller sends nothing")
		}
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("the runs %q are sent, want %q", got, want)
	}
	step := c.one(t, "step "+failed.Nodes[0].Tool, func(s *traces.Span) bool { return hex.EncodeToString(s.GetTraceId()) == failed.TraceID })
	if step.GetStatus().GetCode() != traces.Status_STATUS_CODE_ERROR {
		t.Errorf("the failed step is %v", step.GetStatus())
	}
}

// TestATraceLeadsFromTheRequestToTheDomain sets environment variables that the exporters read, so
// it is not parallel.
func TestATraceLeadsFromTheRequestToTheDomain(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			c, env := byFormat(t, protocol)
			s := start(t, env)
			const caller = "0af7651916cd43dd8448eb211c80319c"
			run := s.asked(t, "00-"+caller+"-b7ad6b7169203331-01")
			apptest.Stop(t, s.server)
			c.requestIsTraced(t, caller, run)
			call := c.runIsTraced(t, run)
			s.mu.Lock()
			defer s.mu.Unlock()
			want := "00-" + run.TraceID + "-" + hex.EncodeToString(call.GetSpanId()) + "-01"
			if len(s.parents) == 0 || s.parents[len(s.parents)-1] != want {
				t.Errorf("the domain was called with %q, want %s", s.parents, want)
			}
			if !strings.Contains(s.log.String(), `"trace_id":"`+caller+`"`) {
				t.Error("no line of the log names the trace of the request")
			}
			for _, name := range []string{"http.server.request.duration", "manifold.domain.call.duration", "manifold.run.machine.duration", "gen_ai.client.token.usage"} {
				if !c.metrics[name] {
					t.Errorf("%s was not sent; there are %v", name, slices.Sorted(maps.Keys(c.metrics)))
				}
			}
		})
	}
}

// requestIsTraced checks the caller's trace: the request, the model call that read it, and the
// link to the run.
func (c *collector) requestIsTraced(t *testing.T, caller string, run contracts.RunView) {
	t.Helper()
	request := c.one(t, "POST /v1/sessions")
	if hex.EncodeToString(request.GetTraceId()) != caller || hex.EncodeToString(request.GetParentSpanId()) != "b7ad6b7169203331" {
		t.Errorf("the request is in the trace %x below %x", request.GetTraceId(), request.GetParentSpanId())
	}
	if attribute(request, "http.route").GetStringValue() != "/v1/sessions" || attribute(request, "http.response.status_code").GetIntValue() != http.StatusCreated {
		t.Errorf("attributes: %v", request.GetAttributes())
	}
	read := c.first(t, "chat tiny")
	if hex.EncodeToString(read.GetTraceId()) != caller || read.GetKind() != traces.Span_SPAN_KIND_CLIENT {
		t.Errorf("the model is asked in %x, as %v", read.GetTraceId(), read.GetKind())
	}
	for key, want := range map[string]int64{"gen_ai.usage.input_tokens": 101, "gen_ai.usage.output_tokens": 7} {
		if got := attribute(read, key).GetIntValue(); got != want {
			t.Errorf("%s is %d, want %d", key, got, want)
		}
	}
	submit := c.one(t, "submit run")
	if hex.EncodeToString(submit.GetTraceId()) != caller || len(submit.GetLinks()) != 1 || hex.EncodeToString(submit.GetLinks()[0].GetTraceId()) != run.TraceID {
		t.Errorf("the run is submitted in %x with links %v", submit.GetTraceId(), submit.GetLinks())
	}
}

// runIsTraced checks the run's own trace and returns the span of its domain request.
func (c *collector) runIsTraced(t *testing.T, run contracts.RunView) *traces.Span {
	t.Helper()
	root := c.one(t, "run")
	if hex.EncodeToString(root.GetTraceId()) != run.TraceID || len(root.GetParentSpanId()) != 0 {
		t.Errorf("the run is in %x below %x, want %s", root.GetTraceId(), root.GetParentSpanId(), run.TraceID)
	}
	if at := attribute(root, "manifold.run.url").GetStringValue(); at != "https://manifold.example.com/runs/"+run.RunID {
		t.Errorf("its page is %q", at)
	}
	if begun := c.one(t, "submitted"); !below(root)(begun) || len(begun.GetLinks()) != 1 {
		t.Errorf("it does not say who asked: %v", begun)
	}
	tool := run.Nodes[0].Tool
	step := c.one(t, "step "+tool, below(root))
	if took := time.Duration(step.GetEndTimeUnixNano() - step.GetStartTimeUnixNano()); took <= 0 || took > time.Minute {
		t.Errorf("the step took %s", took)
	}
	called := c.one(t, "execute_tool "+tool, below(step))
	return c.one(t, "HTTP POST", below(called))
}

// TestNothingIsToldUnlessAskedFor checks a server without telemetry.
func TestNothingIsToldUnlessAskedFor(t *testing.T) {
	s := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_TRACES_EXPORTER": "none"})
	run := s.asked(t, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if run.TraceURL != "" {
		t.Errorf("the run leads to %s, which nobody has said", run.TraceURL)
	}
	if app.MetricsURL(s.server) != "" || strings.Contains(s.log.String(), "trace_id") {
		t.Error("something is told")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(s.parents[0], "00-"+run.TraceID+"-") {
		t.Errorf("domains know the trace of a run all the same: %q, want %s", s.parents[0], run.TraceID)
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for _, at := range []string{"javascript:alert('{trace_id}')", "https://traces.example.com", "traces.example.com/{trace_id}", "https:///{trace_id}", "https://me:secret@traces.example.com/{trace_id}", "https://%zz/{trace_id}"} {
		_, err := app.New(t.Context(), app.Config{DataDir: t.TempDir(), Telemetry: app.Telemetry{TraceURL: at}})
		if contracts.CodeOf(err) != contracts.CodeInvalid || !strings.Contains(err.Error(), "{trace_id}") {
			t.Errorf("%s: %v", at, err)
		}
	}
	for name, env := range map[string]map[string]string{
		"must be otlp or none":          {"OTEL_TRACES_EXPORTER": "zipkin"},
		"must be grpc or http/protobuf": {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_METRICS_EXPORTER": "otlp"},
	} {
		_, err := app.New(t.Context(), app.Config{DataDir: t.TempDir(), Telemetry: app.Telemetry{Getenv: func(key string) string { return env[key] }}})
		if contracts.CodeOf(err) != contracts.CodeInvalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", env, err)
		}
	}
}

// TestARunLeadsToItsTrace checks the trace link of a run, if a site configures one. Other tests
// check the link from the span of a run to its page.
func TestARunLeadsToItsTrace(t *testing.T) {
	s := start(t, nil, func(c *app.Config) { c.Telemetry.TraceURL = "http://jaeger.example.com/trace/{trace_id}?of={trace_id}" })
	run := s.asked(t, "")
	if want := "http://jaeger.example.com/trace/" + run.TraceID + "?of=" + run.TraceID; run.TraceURL != want {
		t.Errorf("the run leads to %q, want %q", run.TraceURL, want)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL()+"/v1/settings", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var settings contracts.Settings
	if err := json.NewDecoder(res.Body).Decode(&settings); err != nil || !strings.HasSuffix(settings.TraceURL, "?of={trace_id}") {
		t.Errorf("the settings show %q, %v", settings.TraceURL, err)
	}
}

// scraped returns the metrics of a server that has executed all kinds of work.
func scraped(t *testing.T) string {
	t.Helper()
	s := start(t, nil, func(c *app.Config) { c.Telemetry.MetricsAddr = "127.0.0.1:0" })
	s.asked(t, "")
	if _, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: "set an alert for AAPL above 250"}, client.Opt{Wait: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	var text string
	for { // a finished run is reported with a delay
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, app.MetricsURL(s.server), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if text = string(raw); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%d %v", res.StatusCode, err)
		}
		if strings.Contains(text, "manifold_run_machine_duration_seconds_bucket") {
			return text
		}
	}
}

var metricName = regexp.MustCompile(`\b(?:manifold|http|gen_ai|process|go)_[a-z_]+`)

// TestTheDashboardAndTheAlertsAreOfMetricsThatExist compares the files of examples/monitoring
// with the metrics of a server, including labels.
func TestTheDashboardAndTheAlertsAreOfMetricsThatExist(t *testing.T) {
	text := scraped(t)
	known := map[string]bool{}
	for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(text, -1) {
		known[word] = true
	}
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		raw, err := os.ReadFile("../../examples/monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		used := metricName.FindAllString(string(raw), -1)
		if len(used) < 5 {
			t.Errorf("%s names only %v", file, used)
		}
		for _, name := range used {
			if !known[name] {
				t.Errorf("%s: a server gives no %s", file, name)
			}
		}
	}
	for _, counter := range []string{"approvals_bypassed", "write_collisions", "failed_resumes", "audit_holes"} {
		if !regexp.MustCompile(`manifold_safety_violations\{manifold_safety_counter="` + counter + `"\} 0\n`).MatchString(text) {
			t.Errorf("the counter %s is not 0, or not there", counter)
		}
	}
	for _, said := range []string{"rita", "AAPL", "Apple", "127.0.0.1:0"} {
		if strings.Contains(text, said) {
			t.Errorf("a metric has %q in it", said)
		}
	}
}

// TestPromtoolTakesTheRules needs promtool, which Debian has in the package prometheus.
func TestPromtoolTakesTheRules(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = "../../examples/monitoring"
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, &out)
		}
	}
}
