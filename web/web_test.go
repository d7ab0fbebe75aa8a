package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/web"
)

// reply is a response.
type reply struct {
	StatusCode int
	Header     http.Header
	Body       io.Reader
}

func get(t *testing.T, method, path string, header ...string) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body}
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

var script = regexp.MustCompile(`src="(/assets/[^"]+\.js)"`)

func TestEveryPageIsTheDocument(t *testing.T) {
	t.Parallel()
	want := body(t, get(t, http.MethodGet, "/").Body)
	if !script.MatchString(want) {
		t.Fatalf("the document loads no script:\n%s", want)
	}
	for _, path := range []string{"/sign-in", "/runs", "/runs/run_1", "/runs/run_1/print", "/approvals/7KQ2M", "/domains/workday", "/try"} {
		r := get(t, http.MethodGet, path)
		if got := body(t, r.Body); r.StatusCode != http.StatusOK || got != want || r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d, %q", path, r.StatusCode, r.Header.Get("Cache-Control"))
		}
	}
}

func TestWhatIsNoPageIsLeftToOthers(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/runs", "/health", "/openapi.yaml", "/models", "/chat/completions", "/assets/none.js", "/assets/../web.go", "/index.html", "/runsx"} {
		if r := get(t, http.MethodGet, path); r.StatusCode != http.StatusNotFound || web.Has(path) {
			t.Errorf("%s is answered with %d", path, r.StatusCode)
		}
	}
	if r := get(t, http.MethodPost, "/runs"); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST is answered with %d", r.StatusCode)
	}
}

func TestFilesAreSentOnceAndCompressed(t *testing.T) {
	t.Parallel()
	path := script.FindStringSubmatch(body(t, get(t, http.MethodGet, "/").Body))[1]
	plain := get(t, http.MethodGet, path)
	want := body(t, plain.Body)
	if !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") || plain.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%v", plain.Header)
	}
	if r := get(t, http.MethodGet, path, "If-None-Match", plain.Header.Get("ETag")); r.StatusCode != http.StatusNotModified {
		t.Errorf("the same file is sent again: %d", r.StatusCode)
	}
	zipped := get(t, http.MethodGet, path, "Accept-Encoding", "br, gzip;q=0.8")
	if zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v", zipped.Header)
	}
	unzip, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, unzip); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if r := get(t, http.MethodGet, path, "Accept-Encoding", "gzip;q=0, br"); r.Header.Get("Content-Encoding") != "" {
		t.Error("gzip is sent to a client that refuses it")
	}
	if r := get(t, http.MethodHead, path); body(t, r.Body) != "" || r.StatusCode != http.StatusOK {
		t.Error("HEAD is not answered by headers alone")
	}
}

// TestTheFirstViewIsSmall bounds what a browser loads before it shows anything, compressed.
func TestTheFirstViewIsSmall(t *testing.T) {
	t.Parallel()
	const most = 220 << 10
	document := body(t, get(t, http.MethodGet, "/").Body)
	total := 0
	for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(document, -1) {
		r := get(t, http.MethodGet, m[1], "Accept-Encoding", "gzip")
		if r.StatusCode != http.StatusOK {
			t.Fatalf("the document names %s, which is answered with %d", m[1], r.StatusCode)
		}
		total += len(body(t, r.Body))
	}
	if total == 0 || total > most {
		t.Errorf("%d bytes, want at most %d", total, most)
	}
	t.Logf("%d KiB of at most %d", total>>10, most>>10)
}

func TestTheDocumentNeedsNothingInlineAndNothingForeign(t *testing.T) {
	t.Parallel()
	document := body(t, get(t, http.MethodGet, "/").Body)
	for _, bad := range []string{"<style", "style=", "onload=", "http://", "https://", "//"} {
		if strings.Contains(document, bad) {
			t.Errorf("the document contains %q", bad)
		}
	}
	if inline := regexp.MustCompile(`<script[^>]*>[^<]`).FindString(document); inline != "" {
		t.Errorf("a script stands in the document: %s", inline)
	}
}
