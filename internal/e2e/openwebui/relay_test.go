package openwebui_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// relay stands between Open WebUI and the server, and keeps what is asked.
type relay struct {
	proxy *httputil.ReverseProxy

	mu    sync.Mutex // guards asked
	asked []asked
}

// asked is one request to complete a chat.
type asked struct {
	Header http.Header
	Body   struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role       string `json:"role"`
			Content    any    `json:"content"`
			ToolCallID string `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
}

func newRelay(target string) (*relay, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	return &relay{proxy: proxy}, nil
}

func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if strings.HasSuffix(req.URL.Path, "/chat/completions") {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a := asked{Header: req.Header.Clone()}
		if err := json.Unmarshal(body, &a.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		r.asked = append(r.asked, a)
		r.mu.Unlock()
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.proxy.ServeHTTP(w, req)
}

// of returns what was asked in a chat.
func (r *relay) of(chatID string) []asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []asked
	for _, a := range r.asked {
		if a.Header.Get("X-Openwebui-Chat-Id") == chatID {
			out = append(out, a)
		}
	}
	return out
}

// tasks returns the background tasks that were asked for in a chat.
func (r *relay) tasks(chatID string) map[string]int {
	out := map[string]int{}
	for _, a := range r.of(chatID) {
		if task := a.Header.Get("X-Openwebui-Task"); task != "" {
			out[task]++
		}
	}
	return out
}

// holder can hold the answers of a domain.
type holder struct {
	domain http.Handler

	mu      sync.Mutex // guards the fields below
	gate    chan struct{}
	arrived chan struct{}
}

func newHolder(domain http.Handler) *holder { return &holder{domain: domain} }

// hold lets calls wait from now on, until release is called.
func (h *holder) hold(t *testing.T) (arrived <-chan struct{}, release func()) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	gate := make(chan struct{})
	h.gate, h.arrived = gate, make(chan struct{}, 100)
	release = sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(gate)
		h.gate = nil
	})
	t.Cleanup(release)
	return h.arrived, release
}

func (h *holder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	gate, arrived := h.gate, h.arrived
	h.mu.Unlock()
	if gate != nil && r.URL.Path == "/execute" {
		arrived <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	h.domain.ServeHTTP(w, r)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it did not come to that", what)
		}
	}
}
