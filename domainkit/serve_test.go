package domainkit_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domainkit"
)

func TestServeStopsWhenAskedTo(t *testing.T) {
	t.Parallel()
	svc, started, finish := newService(t), make(chan struct{}), make(chan struct{})
	err := domainkit.Add(svc, read("look"), func(context.Context, domainkit.Call, plain) (plain, error) {
		close(started)
		<-finish
		return plain{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- svc.Serve(ctx, listener) }()
	answer := make(chan string, 1)
	go func() { answer <- post(t, "http://"+listener.Addr().String()+"/execute", `{"capability":"look"}`) }()
	<-started
	stop() // during a request
	close(finish)
	if got := <-answer; !strings.Contains(got, `"ok":true`) {
		t.Errorf("the running request got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stopped with %v", err)
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	svc := newService(t)
	if err := svc.Run(t.Context(), "256.0.0.1:bad"); err == nil || !strings.Contains(err.Error(), "listen on 256.0.0.1:bad") {
		t.Errorf("got %v", err)
	}
}
