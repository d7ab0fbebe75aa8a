package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

func isJSON(e exchange) bool {
	media, _, err := mime.ParseMediaType(e.header.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

func (s *suite) checkHealth(ctx context.Context, p *probe) {
	got, err := s.send(ctx, http.MethodGet, "/health", nil, nil)
	if err != nil {
		p.fail("reachable", "", "Start the service, and look at address and firewall.", "%s", err)
		return
	}
	if got.status == http.StatusUnauthorized || got.status == http.StatusForbidden {
		p.fail("authorization", "", "Give the Authorization header that the service expects.", "GET /health answers %d", got.status)
		return
	}
	var health contracts.Health
	if err := json.Unmarshal(got.body, &health); err != nil || got.status != http.StatusOK || !isJSON(got) {
		p.fail("health", "", `Answer 200 with {"status":"ok"} as application/json, even when the domain is down.`,
			"GET /health answers %d, %s: %s", got.status, got.header.Get("Content-Type"), got.excerpt())
		return
	}
	known := []contracts.HealthStatus{contracts.HealthOK, contracts.HealthDegraded, contracts.HealthDown}
	if !slices.Contains(known, health.Status) {
		p.fail("health", "", "Say ok, degraded or down.", "the status is %q", health.Status)
		return
	}
	if health.Version == "" {
		p.warn("health-version", "", "Say the version, so that operators see what runs.", "the health has no version")
	}
	if health.Status == contracts.HealthDown {
		p.fail("health", "", "Bring the domain up before it is checked.", "the domain says that it is down: %s", got.excerpt())
	}
}

func (s *suite) checkManifest(ctx context.Context, p *probe) {
	got, err := s.send(ctx, http.MethodGet, "/manifest", nil, nil)
	if err != nil {
		p.fail("reachable", "", "", "%s", err)
		return
	}
	if got.status != http.StatusOK || !isJSON(got) {
		p.fail("manifest", "", "Answer 200 with the manifest as application/json.",
			"GET /manifest answers %d, %s: %s", got.status, got.header.Get("Content-Type"), got.excerpt())
		return
	}
	manifest, err := contracts.ParseManifest(got.body)
	if err != nil {
		manifestFaults(p, err)
		return
	}
	s.manifest, s.etag = manifest, got.header.Get("ETag")
	s.report.Domain, s.report.Version = manifest.Domain, manifest.Version
	for _, instance := range manifest.Instances {
		if instance.Default || s.instance == "" {
			s.instance = instance.ID
		}
	}
}

func manifestFaults(p *probe, err error) {
	fault, ok := errors.AsType[*contracts.Error](err)
	if !ok || len(fault.Faults) == 0 {
		p.fail("manifest", "", "", "%s", err)
		return
	}
	for _, f := range fault.Faults {
		p.fail("manifest", f.Pointer, "", "%s", f.Message)
	}
}

func (s *suite) checkETag(ctx context.Context, p *probe) {
	const fix = "Send an ETag with the manifest, such as a hash of it, and answer 304 when If-None-Match has it."
	if s.etag == "" {
		p.fail("etag", "", fix, "the manifest has no ETag")
		return
	}
	again, err := s.send(ctx, http.MethodGet, "/manifest", nil, nil)
	if err != nil {
		p.fail("reachable", "", "", "%s", err)
		return
	}
	if tag := again.header.Get("ETag"); tag != s.etag {
		p.fail("etag", "", "Make the ETag depend on the manifest alone.", "two requests got %s and %s", s.etag, tag)
	}
	same, err := s.send(ctx, http.MethodGet, "/manifest", nil, map[string]string{"If-None-Match": s.etag})
	if err != nil {
		p.fail("reachable", "", "", "%s", err)
		return
	}
	if same.status != http.StatusNotModified || len(same.body) > 0 {
		p.fail("etag", "", fix, "If-None-Match with the ETag answers %d and %d bytes", same.status, len(same.body))
	}
	other, err := s.send(ctx, http.MethodGet, "/manifest", nil, map[string]string{"If-None-Match": `"another"`})
	if err == nil && other.status != http.StatusOK {
		p.fail("etag", "", fix, "If-None-Match with another ETag answers %d", other.status)
	}
}

// checkAuthentication calls without a credential and with a wrong one.
func (s *suite) checkAuthentication(ctx context.Context, p *probe) {
	if s.opt.Authorization == "" {
		p.warn("open", "", "Ask for a credential, unless nobody else can reach the service.", "the service answers without a credential")
		return
	}
	body, err := json.Marshal(contracts.ExecuteRequest{Capability: unknownName, Parameters: map[string]any{}})
	if err != nil {
		p.fail("authentication", "", "", "%s", err)
		return
	}
	own := s.opt.Authorization
	defer func() { s.opt.Authorization = own }()
	for _, try := range [][2]string{{"no credential", ""}, {"a wrong credential", own + "x"}} {
		what := try[0]
		s.opt.Authorization = try[1]
		for _, path := range []string{"/health", "/manifest", "/execute"} {
			method, payload := http.MethodGet, []byte(nil)
			if path == "/execute" {
				method, payload = http.MethodPost, body
			}
			got, err := s.send(ctx, method, path, payload, nil)
			if err != nil {
				p.fail("reachable", "", "", "%s", err)
			} else if got.status != http.StatusUnauthorized {
				p.fail("authentication", "", "Answer 401 on all three endpoints.", "%s at %s is answered with %d", what, path, got.status)
			}
		}
	}
}
