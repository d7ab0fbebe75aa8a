package model_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/model"
)

func newEmbeddings(t *testing.T, cfg model.EmbeddingsConfig, handle http.HandlerFunc) *model.Embeddings {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	cfg.URL = server.URL + cfg.URL
	c, err := model.NewEmbeddings(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestVectorsComeInTheOrderOfTheTexts, also if the server returns them in another order, with length 1.
func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/", "/v1", "/v1/embeddings", "/base"} {
		want := "/v1/embeddings"
		if path == "/base" {
			want = "/base" + want
		}
		var calls atomic.Int64
		c := newEmbeddings(t, model.EmbeddingsConfig{URL: path, Model: "m", Key: "k"}, func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			var in struct {
				Model string
				Input []string
			}
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "m" || r.URL.Path != want || r.Header.Get("Authorization") != "Bearer k" {
				t.Errorf("%s: %v %q %v", r.URL.Path, err, in.Model, r.Header)
			}
			var data []string
			for i := range in.Input {
				i = len(in.Input) - 1 - i
				data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,%d]}`, i, 3*len(in.Input[i]), 4*len(in.Input[i])))
			}
			fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
		})
		texts := make([]string, 150)
		for i := range texts {
			texts[i] = strings.Repeat("x", i+1)
		}
		vectors, err := c.Prepare(t.Context(), texts)
		if err != nil || len(vectors) != len(texts) || calls.Load() != 3 {
			t.Fatalf("%v, %d vectors in %d requests", err, len(vectors), calls.Load())
		}
		for _, v := range vectors {
			if math.Abs(float64(v[0])-.6) > 1e-6 || math.Abs(float64(v[1])-.8) > 1e-6 {
				t.Fatalf("vector %v", v)
			}
		}
	}
}

func TestAnswersThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	tooLong := `{"data":[{"embedding":[` + strings.Repeat("1,", 9000) + `1]}]}`
	for answer, want := range map[string]string{
		`{"data":[]}`:                                    "0 vectors for 1 texts",
		`{"data":[{"index":1,"embedding":[1]}]}`:         "text 1 of 1",
		`{"data":[{"embedding":[1]},{"embedding":[1]}]}`: "text 0 of 1",
		`{"data":[{"embedding":[]}]}`:                    "0 numbers",
		`{"data":[{"embedding":[0,0]}]}`:                 "length 0",
		`{"data":[{"embedding":"AAAA"}]}`:                "not understood",
		`<html>`:                                         "not understood",
		tooLong:                                          "9001 numbers",
	} {
		c := newEmbeddings(t, model.EmbeddingsConfig{Timeout: 10 * time.Second}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		if _, err := c.Score(t.Context(), "text"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", answer, err)
		}
	}
	refuses := newEmbeddings(t, model.EmbeddingsConfig{Timeout: 10 * time.Second}, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such model", http.StatusBadRequest) })
	if _, err := refuses.Prepare(t.Context(), []string{"text"}); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("a refusal: %v", err)
	}
	var n atomic.Int64
	changes := newEmbeddings(t, model.EmbeddingsConfig{Timeout: 10 * time.Second}, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[{"embedding":[1%s]}]}`, strings.Repeat(",1", int(n.Add(1))))
	})
	if _, err := changes.Score(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if _, err := changes.Score(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "of 2 and of 3") {
		t.Errorf("other lengths: %v", err)
	}
}

// TestAStalledServerCostsItsBoundOnce: after a timeout, requests fail fast for a while.
func TestAStalledServerCostsItsBoundOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	stalls := make(chan struct{})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newEmbeddings(t, model.EmbeddingsConfig{Timeout: 20 * time.Millisecond, Now: func() time.Time { return now }}, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			select {
			case <-stalls:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"embedding":[1,0]}]}`))
	})
	t.Cleanup(func() { close(stalls) })
	for range 5 {
		if _, err := c.Score(t.Context(), "text"); err == nil {
			t.Error("a stalled server answers")
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times while it was stalled", n)
	}
	now = now.Add(time.Minute)
	if asked.Load() == 1 { // the timeout is short; only the retry matters
		_, _ = c.Score(t.Context(), "text")
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("it was asked %d times in all, not again after a while", n)
	}
}

func TestAddressesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:1234", "ftp://a/b", "http://", "::"} {
		if _, err := model.NewEmbeddings(model.EmbeddingsConfig{URL: address}); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	if _, err := model.NewEmbeddings(model.EmbeddingsConfig{URL: "http://a", Timeout: -1}); err == nil {
		t.Error("a bound below zero is taken")
	}
}
