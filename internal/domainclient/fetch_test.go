package domainclient_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

func TestManifestIsFetchedOnce(t *testing.T) {
	t.Parallel()
	var got []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("If-None-Match"))
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		answer(200, plainJSON, `{"domain":"alpha"}`)(w, r)
	})
	b := setup(t, url, nil)
	first, err := b.client.FetchManifest(t.Context(), b.at, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(registry.Fetched{Body: []byte(`{"domain":"alpha"}`), ETag: `"v1"`}, first); diff != "" {
		t.Error(diff)
	}
	second, err := b.client.FetchManifest(t.Context(), b.at, first.ETag)
	if err != nil || !second.NotModified || second.ETag != `"v1"` || len(second.Body) != 0 {
		t.Errorf("the second time: %+v, %v", second, err)
	}
	want := []string{`GET /manifest Bearer secret of ALPHA_AUTH `, `GET /manifest Bearer secret of ALPHA_AUTH "v1"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManifestIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handle http.HandlerFunc
		want   contracts.Code
		says   string
	}{
		"a page":                         {answer(200, "text/html", "<html>"), contracts.CodeInvalid, "content type"},
		"another content type":           {answer(200, "application/octet-stream", "{}"), contracts.CodeInvalid, "content type"},
		"not found":                      {answer(404, "", ""), contracts.CodeUnavailable, "404"},
		"a wrong credential":             {answer(401, "", ""), contracts.CodeUnauthorized, "authorization"},
		"304 when nothing was named":     {answer(304, "", ""), contracts.CodeUnavailable, "304"},
		"more than 4 MiB":                {answer(200, plainJSON, strings.Repeat(" ", contracts.MaxManifestBytes+1)), contracts.CodeTooLarge, "larger"},
		"a body that never ends":         {endless, contracts.CodeTooLarge, "larger"},
		"a redirect":                     {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, contracts.CodeUnavailable, "redirects"},
		"a packed body":                  {packed, contracts.CodeInvalid, "encoded"},
		"a domain that never answers":    {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, contracts.CodeUnavailable, "in time"},
		"a domain that drips its answer": {drip, contracts.CodeUnavailable, "in time"},
		"a domain that stays broken":     {answer(500, "", ""), contracts.CodeUnavailable, "500"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, serve(t, tt.handle), func(c *domainclient.Config) {
				if tt.says == "in time" {
					c.FetchTimeout = 200 * time.Millisecond
				}
			})
			_, err := b.client.FetchManifest(t.Context(), b.at, "")
			if contracts.CodeOf(err) != tt.want || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v with code %q; want %q that says %q", err, contracts.CodeOf(err), tt.want, tt.says)
			}
			if strings.Contains(err.Error(), "secret of") {
				t.Errorf("the error tells the credential: %v", err)
			}
		})
	}
}

func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", plainJSON)
	chunk := []byte(strings.Repeat(" ", 1<<16))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func packed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", plainJSON)
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write([]byte{0x1f, 0x8b, 8, 0})
}

func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", plainJSON)
	for {
		if _, err := io.WriteString(w, " "); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestManifestOutlivesARestartOfTheDomain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	w := serveWire(t, func(conn net.Conn, _ *http.Request, _ int) bool {
		switch calls.Add(1) {
		case 1:
			reset(conn)
			return false
		case 2:
			return write(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
		default:
			return write(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
		}
	})
	b := setup(t, w.url(), nil)
	got, err := b.client.FetchManifest(t.Context(), b.at, "")
	if err != nil || string(got.Body) != "{}" {
		t.Errorf("got %q, %v", got.Body, err)
	}
}

func TestLongETagIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+strings.Repeat("x", 300)+`"`)
		answer(200, plainJSON, `{}`)(w, r)
	}), nil)
	got, err := b.client.FetchManifest(t.Context(), b.at, "")
	if err != nil || got.ETag != "" {
		t.Errorf("got %q, %v", got.ETag, err)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handle http.HandlerFunc
		want   contracts.HealthStatus
		code   contracts.Code
	}{
		"ok":                        {answer(200, plainJSON, `{"status":"ok","version":"1","extra":[]}`), contracts.HealthOK, ""},
		"degraded":                  {answer(200, plainJSON, `{"status":"degraded","checks":{"db":{"status":"down"}}}`), contracts.HealthDegraded, ""},
		"down":                      {answer(200, plainJSON, `{"status":"down"}`), contracts.HealthDown, ""},
		"only the core says this":   {answer(200, plainJSON, `{"status":"starting"}`), "", contracts.CodeUnavailable},
		"no status":                 {answer(200, plainJSON, `{}`), "", contracts.CodeUnavailable},
		"no JSON":                   {answer(200, plainJSON, `ok`), "", contracts.CodeUnavailable},
		"no content type of JSON":   {answer(200, "text/plain", `{"status":"ok"}`), "", contracts.CodeInvalid},
		"another status of HTTP":    {answer(503, plainJSON, `{"status":"ok"}`), "", contracts.CodeUnavailable},
		"a wrong credential":        {answer(403, plainJSON, `{"status":"ok"}`), "", contracts.CodeUnauthorized},
		"a body that never ends":    {endless, "", contracts.CodeTooLarge},
		"a domain that never tells": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", contracts.CodeUnavailable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, serve(t, tt.handle), func(c *domainclient.Config) {
				c.HealthTimeout = time.Minute
				if name == "a domain that never tells" {
					c.HealthTimeout = 100 * time.Millisecond
				}
			})
			got, err := b.client.Health(t.Context(), b.at)
			if got.Status != tt.want || contracts.CodeOf(err) != tt.code {
				t.Errorf("got %q, %v; want %q, code %q", got.Status, err, tt.want, tt.code)
			}
		})
	}
}
