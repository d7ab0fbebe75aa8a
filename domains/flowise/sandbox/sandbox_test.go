package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

func open(t *testing.T) (*sandbox.Server, *api.Client, string) {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client, err := api.New(api.Config{BaseURL: srv.URL, Key: s.Key(), Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s, client, srv.URL
}

func TestEditsOfPeopleAreNoEffectsOfCalls(t *testing.T) {
	t.Parallel()
	s, client, _ := open(t)
	s.AddVariable("greeting", "hello")
	id := s.AddFlow("by hand", "CHATFLOW", echo(`return $vars.greeting + " " + $flow.input`))
	got, err := client.Predict(t.Context(), id, api.Question{Question: "you"})
	if err != nil || got.Text != "hello you" {
		t.Errorf("answer = %q, %v", got.Text, err)
	}
	if !s.EditFlow(id, echo("return `you said ${$flow.input}`")) || s.EditFlow("gone", "") {
		t.Error("EditFlow finds what is not there, or misses what is")
	}
	if got, err = client.Predict(t.Context(), id, api.Question{Question: "hi"}); err != nil || got.Text != "you said hi" {
		t.Errorf("answer after the edit = %q, %v", got.Text, err)
	}
	if data, there := s.FlowData(id); !there || !strings.Contains(data, "you said") || len(s.Effects()) != 0 {
		t.Errorf("flowData = %q, effects %v", data, s.Effects())
	}
}

func TestWhatTheSandboxCannotRunIsSaid(t *testing.T) {
	t.Parallel()
	s, client, _ := open(t)
	for _, code := range []string{"return await fetch(x)", "let x = 1; return x", "return $flow.input.trim()", "", `return "open`} {
		id := s.AddFlow("f", "CHATFLOW", echo(code))
		_, err := client.Predict(t.Context(), id, api.Question{Question: "hi"})
		wantError(t, err, api.KindFailed, "the sandbox cannot run JavaScript")
	}
}

func TestAnotherProcessInjectsFaultsAndReadsEffects(t *testing.T) {
	t.Parallel()
	s, client, url := open(t)
	admin := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+"/_sandbox/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		out, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	admin(http.MethodPost, "faults", `{"kind":"forbidden","path_prefix":"/api/v1/credentials","nth":2,"count":-1}`)
	var failed []bool
	for range 3 {
		_, err := client.Credentials(t.Context())
		failed = append(failed, api.IsKind(err, api.KindForbidden))
	}
	if diff := cmp.Diff([]bool{false, true, true}, failed); diff != "" || !s.Fired() {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
	admin(http.MethodDelete, "faults", "")
	f := saved(t, client, api.Chatflow, `{"nodes":[],"edges":[]}`)
	if got := admin(http.MethodGet, "effects", ""); !strings.Contains(got, `"kind":"flow.create","id":"`+f.ID) {
		t.Errorf("effects = %s", got)
	}
	if got := admin(http.MethodGet, "requests", ""); !strings.Contains(got, `"fault":"forbidden"`) {
		t.Errorf("requests = %s", got)
	}
}
