package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

// strip puts a proxy before each domain that removes all but n English examples of each capability from
// its manifest. It shows how well a manifest works that was written in ten minutes.
func (w *world) strip(ctx context.Context, n int) error {
	for domain, address := range w.urls {
		target, err := url.Parse(address)
		if err != nil {
			return err
		}
		proxy := &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(target)
				r.Out.Header.Del("If-None-Match")
				r.Out.Header.Del("Accept-Encoding")
			},
			ModifyResponse: func(resp *http.Response) error {
				if resp.Request.URL.Path != "/manifest" || resp.StatusCode != http.StatusOK {
					return nil
				}
				return stripAnswer(resp, n)
			},
		}
		listener, err := listen(ctx, "127.0.0.1:0")
		if err != nil {
			return err
		}
		w.urls[domain] = "http://" + listener.Addr().String()
		w.serving.Go(func() { w.note(serveHTTP(ctx, proxy, listener)) })
	}
	return nil
}

func stripAnswer(resp *http.Response, n int) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, contracts.MaxManifestBytes))
	if err != nil {
		return err
	}
	var m contracts.Manifest
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("read a manifest: %w", err)
	}
	if body, err = json.Marshal(eval.Strip(&m, n)); err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.Header.Del("ETag")
	return nil
}
