package domainclient_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

// passing accepts all manifest tests, which are not the subject here.
type passing struct{}

func (passing) RunTests(context.Context, *contracts.Catalog, string) ([]registry.TestFailure, error) {
	return nil, nil
}

func manifest(domain string, capabilities int, schema string) string {
	var list []string
	for i := range capabilities {
		list = append(list, fmt.Sprintf(`{"name":"look%d","schema":%s,"metadata":{"side_effect_class":"read","routable":false}}`, i, schema))
	}
	return fmt.Sprintf(`{"schema_version":"1","domain":%q,"version":"1","capabilities":[%s]}`, domain, strings.Join(list, ","))
}

// domainServer serves the three endpoints; serveManifest handles the manifest.
func domainServer(t *testing.T, serveManifest http.HandlerFunc) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/manifest":
			serveManifest(w, r)
		case "/health":
			answer(200, plainJSON, `{"status":"ok"}`)(w, r)
		default:
			answer(200, plainJSON, `{"ok":true,"summary":"fine"}`)(w, r)
		}
	})
}

const object = `{"type":"object"}`

func deepSchema(depth int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, depth) + object + strings.Repeat(`}}`, depth)
}

func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", plainJSON)
	w.Header().Set("Content-Encoding", "gzip")
	packer := gzip.NewWriter(w)
	zeros := make([]byte, 1<<20)
	for range 64 {
		if _, err := packer.Write(zeros); err != nil {
			return
		}
	}
	_ = packer.Close()
}

func hangUp(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// hostile returns handlers for many kinds of misbehaviour.
func hostile() map[string]http.HandlerFunc {
	page := func(body string) http.HandlerFunc { return answer(200, plainJSON, body) }
	return map[string]http.HandlerFunc{
		"endless-body":      endless,
		"slow-bytes":        drip,
		"huge-manifest":     page(strings.Replace(manifest("huge-manifest", 1, object), `"1"`, `"1","description":"`+strings.Repeat("x", 5<<20)+`"`, 1)),
		"ref-to-a-file":     page(manifest("ref-to-a-file", 1, `{"type":"object","$ref":"file:///etc/passwd"}`)),
		"ref-to-a-network":  page(manifest("ref-to-a-network", 1, `{"type":"object","$ref":"http://127.0.0.1:1/schema.json"}`)),
		"ref-to-itself":     page(manifest("ref-to-itself", 1, `{"type":"object","$ref":"#"}`)),
		"deep-schema":       page(manifest("deep-schema", 1, deepSchema(40))),
		"deeper-than-json":  page(strings.Repeat("[", 1<<20)),
		"duplicate-names":   page(strings.ReplaceAll(manifest("duplicate-names", 2, object), "look1", "look0")),
		"duplicate-keys":    page(strings.Replace(manifest("duplicate-keys", 1, object), `"version":"1"`, `"version":"1","version":"2"`, 1)),
		"stolen-namespace":  page(manifest("good", 1, object)),
		"wrong-json":        page(`{"schema_version":"1",`),
		"not-json":          answer(200, "text/html", "<html>"),
		"many-capabilities": page(manifest("many-capabilities", 10_000, object)),
		"gzip-bomb":         bomb,
		"redirecting":       func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/health", http.StatusFound) },
		"hanging":           func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"breaking":          hangUp,
		"bad-pattern":       page(manifest("bad-pattern", 1, `{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`)),
		"text-for-terminals": page(strings.Replace(manifest("text-for-terminals", 1, object), `"schema_version"`,
			`"\u001b[31mred\u001b[0m":1,"schema_version"`, 1)),
	}
}

func TestHostileDomainsHarmOnlyThemselves(t *testing.T) {
	t.Parallel()
	client, err := domainclient.New(domainclient.Config{FetchTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	reg, err := registry.New(registry.Config{}, registrytest.NewStore(), client, passing{})
	if err != nil {
		t.Fatal(err)
	}
	var file contracts.Bootstrap
	for name, serveManifest := range hostile() {
		file.Domains = append(file.Domains, contracts.Registration{Domain: name, URL: domainServer(t, serveManifest)})
	}
	good := contracts.Registration{Domain: "good", URL: domainServer(t, answer(200, plainJSON, manifest("good", 1, object)))}
	file.Domains = append(file.Domains, good)
	if err := reg.Start(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := reg.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := reg.Settled(ctx); err != nil {
		t.Fatal(err)
	}
	awaitActive(ctx, t, reg, "good")
	for _, view := range reg.List() {
		checkVictim(t, reg, view)
	}
	entry, ok := reg.Catalog().Capability("good.look0")
	if !ok || len(reg.Catalog().Domains) != 1 {
		t.Fatalf("the good domain is in the catalog: %v; domains: %d", ok, len(reg.Catalog().Domains))
	}
	reply := client.Invoker(reg).Invoke(t.Context(), execution.Call{Entry: entry, Timeout: 10 * time.Second})
	wantKind(t, reply, execution.ReplyResult)
}

// awaitActive waits for a domain. On a busy machine its first fetch may have timed out.
func awaitActive(ctx context.Context, t *testing.T, reg *registry.Registry, name string) {
	t.Helper()
	for {
		if _, ok := reg.Catalog().Domain(name); ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is not active", name)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func checkVictim(t *testing.T, reg *registry.Registry, view contracts.DomainView) {
	t.Helper()
	if view.Domain == "good" {
		if view.Outcome != contracts.DomainActive {
			t.Errorf("the good domain is %s: %s", view.Outcome, view.Detail)
		}
		return
	}
	if view.Outcome == contracts.DomainActive || view.Capabilities != 0 || view.Detail == "" {
		t.Errorf("%s is %s with %d capabilities; it says %q", view.Domain, view.Outcome, view.Capabilities, view.Detail)
	}
	if strings.ContainsAny(view.Detail, "\n\r\x1b") || len(view.Detail) > 1500 {
		t.Errorf("%s: the detail is no plain line: %q", view.Domain, view.Detail)
	}
	detail, err := reg.Show(view.Domain)
	if err != nil {
		t.Fatal(err)
	}
	if len(detail.Findings) > 201 {
		t.Errorf("%s: %d findings", view.Domain, len(detail.Findings))
	}
}

// A manifest of the maximum size is processed within seconds.
func TestLargestManifestIsJudgedInTime(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"id":{"type":"string","pattern":"^[a-z]+$"},"n":{"type":"integer"}},"required":["id"]}`
	body := manifest("large", contracts.MaxCapabilities, schema)
	if !json.Valid([]byte(body)) {
		t.Fatal("the test's manifest is no JSON")
	}
	b := setup(t, domainServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", plainJSON)
		_, _ = io.WriteString(w, body)
	}), nil)
	reg, err := registry.New(registry.Config{}, registrytest.NewStore(), b.client, passing{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	report, err := reg.Register(t.Context(), contracts.Registration{Domain: "large", URL: b.at.URL})
	if err != nil || report.Outcome != contracts.DomainActive {
		t.Fatalf("got %+v, %v", report, err)
	}
	t.Logf("%d capabilities were judged in %v", contracts.MaxCapabilities, time.Since(began))
	if n := len(reg.Catalog().Domains[0].Capabilities); n != contracts.MaxCapabilities {
		t.Errorf("the catalog has %d capabilities", n)
	}
}
