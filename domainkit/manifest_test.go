package domainkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

func TestManifestIsServedWithAnETag(t *testing.T) {
	t.Parallel()
	c := quotes(t, plainQuote)
	first := c.do("GET", "/manifest", "").want(t, 200)
	m, err := contracts.ParseManifest([]byte(first.Body))
	if err != nil {
		t.Fatal(err)
	}
	if m.Domain != "shop" || m.Version != "1.2.3" || len(m.Capabilities) != 1 {
		t.Errorf("manifest %s", first.Body)
	}
	etag := first.Header.Get("ETag")
	tests := map[string]struct {
		header string
		status int
	}{
		"the same tag":     {etag, 304},
		"a weak tag":       {"W/" + etag, 304},
		"one of many tags": {`"x", ` + etag, 304},
		"any tag":          {"*", 304},
		"another tag":      {`"x"`, 200},
		"no tag":           {"", 200},
	}
	for name, tt := range tests {
		got := c.do("GET", "/manifest", "", "If-None-Match", tt.header)
		if got.Status != tt.status || got.Header.Get("ETag") != etag || (tt.status == 304) != (got.Body == "") {
			t.Errorf("%s: status %d, ETag %s, %d bytes", name, got.Status, got.Header.Get("ETag"), len(got.Body))
		}
	}
}

// withHints returns the manifest of a service with the capabilities one (a read) and two (a write).
func withHints(t *testing.T, hints string, change ...func(*domainkit.Config)) (*contracts.Manifest, error) {
	t.Helper()
	change = append(change, func(config *domainkit.Config) { config.Hints = []byte(hints) })
	svc := newService(t, change...)
	two := writeCap("two")
	two.Description = "Writes."
	do := func(context.Context, domainkit.Call, order) (placed, error) { return placed{}, nil }
	if err := errors.Join(domainkit.Add(svc, read("one"), do), domainkit.Add(svc, two, do)); err != nil {
		t.Fatal(err)
	}
	return svc.Manifest()
}

func TestHintsCompleteTheCode(t *testing.T) {
	t.Parallel()
	m, err := withHints(t, `{
		"title": "A shop", "domain": "shop",
		"instances": [{"id": "test"}],
		"skills": {"buying": "Buy low."},
		"tests": [{"say": "hello", "expect": null}],
		"capabilities": [
			{"name": "two", "metadata": {"risk_level": "low", "side_effect_class": "write_irreversible"}},
			{"name": "one", "description": "Reads.",
			 "schema": {"properties": {"item": {"minLength": 2}}},
			 "metadata": {"intent_hints": {"examples": ["look at one"]}, "parameter_specs": {"item": {"ask": "Which?"}}}}
		]}`)
	if err != nil {
		t.Fatal(err)
	}
	if m.Title != "A shop" || m.Skills["buying"] == "" || len(m.Instances) != 1 || len(m.Tests) != 1 {
		t.Errorf("parts are missing: %+v", m)
	}
	one, two := m.Capabilities[0], m.Capabilities[1]
	if one.Name != "one" || two.Name != "two" || two.Metadata.RiskLevel != contracts.RiskLow || two.Metadata.Idempotency != contracts.IdempotencyNone {
		t.Errorf("capabilities %+v", m.Capabilities)
	}
	want := `{"type":"object","properties":{"item":{"type":"string","minLength":2},"n":{"type":"integer"}},"required":["item"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(one.Schema)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if one.Metadata.ParameterSpecs["item"].Ask != "Which?" || one.Metadata.SideEffectClass != contracts.ClassRead {
		t.Errorf("metadata %+v", one.Metadata)
	}
}

func TestHintsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		hints string
		want  []string
	}{
		"no JSON":                        {`{`, nil},
		"an unknown key":                 {`{"titel": "A shop"}`, []string{"/titel"}},
		"an unknown key of metadata":     {`{"capabilities": [{"name": "one", "metadata": {"risk": "low"}}]}`, []string{"/capabilities/0/metadata/risk"}},
		"a capability without a handler": {`{"capabilities": [{"name": "three"}]}`, []string{"/capabilities/0/name", "no capability three"}},
		"what the code says differently": {
			`{"version": "2", "capabilities": [{"name": "one", "metadata": {"side_effect_class": "suggest"}}, {"name": "two", "description": "Deletes."}]}`,
			[]string{"/version", "/capabilities/0/metadata/side_effect_class", "/capabilities/1/description", `the code says "Writes."`},
		},
		"what no manifest may say": {`{"capabilities": [{"name": "two", "metadata": {"verify": {"capability": "nine", "assertions": [{"path": "facts.x", "exists": true}]}}}]}`, []string{"nine"}},
		"a broken schema":          {`{"capabilities": [{"name": "one", "schema": {"type": "objekt"}}]}`, []string{"/capabilities/0/schema"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := withHints(t, tt.hints)
			if err == nil {
				t.Fatal("the hints were accepted")
			}
			said := describe(err)
			for _, want := range append(tt.want, `domain "shop"`) {
				if !strings.Contains(said, want) {
					t.Errorf("got %s, want %q in it", said, want)
				}
			}
		})
	}
}

// describe returns the text of an error with every fault.
func describe(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*contracts.Error](err); ok {
		for _, f := range e.Faults {
			text += "\n" + f.Pointer + ": " + f.Message
		}
	}
	return text
}

func TestServicesThatDoNotStart(t *testing.T) {
	t.Parallel()
	resolve := func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
		return domainkit.Resolution{}, nil
	}
	tests := map[string]struct {
		config     domainkit.Config
		capability domainkit.Capability
		want       string
	}{
		"without a name":            {domainkit.Config{Version: "1"}, read("one"), "domain is empty"},
		"without a version":         {domainkit.Config{Domain: "shop"}, read("one"), "version is empty"},
		"with an impossible name":   {domainkit.Config{Domain: "My Shop", Version: "1"}, read("one"), "/domain"},
		"with an empty token":       {domainkit.Config{Domain: "shop", Version: "1", Tokens: []string{""}}, read("one"), "token 0 is empty"},
		"with an endless wait":      {domainkit.Config{Domain: "shop", Version: "1", AcceptAfter: 1 << 40}, read("one"), "accept after"},
		"with a negative limit":     {domainkit.Config{Domain: "shop", Version: "1", MaxConcurrent: -1}, read("one"), "negative"},
		"with a check of nothing":   {domainkit.Config{Domain: "shop", Version: "1", Checks: map[string]domainkit.Check{"db": {}}}, read("one"), `check "db"`},
		"with an impossible schema": {domainkit.Config{Domain: "shop", Version: "1"}, domainkit.Capability{Name: "one", Schema: json.RawMessage(`{"type":1}`)}, "schema"},
		"with a Resolve for a read": {domainkit.Config{Domain: "shop", Version: "1"}, domainkit.Capability{
			Name: "one", Resolve: resolve, Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
		}, "Resolve is only for idempotency keyed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc, err := domainkit.New(tt.config)
			if err == nil {
				err = domainkit.AddRaw(svc, withSchema(tt.capability), func(context.Context, domainkit.Call, json.RawMessage) (contracts.ToolResult, error) {
					return contracts.ToolResult{OK: true}, nil
				})
			}
			if err == nil {
				_, err = svc.Handler()
			}
			if err == nil || !strings.Contains(describe(err), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func withSchema(c domainkit.Capability) domainkit.Capability {
	if c.Schema == nil {
		c.Schema = json.RawMessage(`{"type":"object"}`)
	}
	return c
}
