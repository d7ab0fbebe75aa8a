package api_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// canned gives every prediction the same answer.
func canned(t *testing.T, kind, body string, adapt func(*api.Config)) *api.Client {
	t.Helper()
	return dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}), "k", adapt)
}

func TestStreamsAreReadInFlowisesFraming(t *testing.T) {
	t.Parallel()
	const (
		events = "text/event-stream"
		start  = "message:\ndata:{\"event\":\"start\",\"data\":\"\"}\n\n"
		token  = "message:\ndata:{\"event\":\"token\",\"data\":\"hi \\n\"}\n\n"
		end    = "message\ndata:{\"event\":\"end\",\"data\":\"[DONE]\"}\n\n"
	)
	for name, tc := range map[string]struct {
		body string
		want string
		kind api.Kind // empty: it succeeds
	}{
		"tokens become a text":                     {start + "data:{\"event\":\"token\",\"data\":\"oh \"}\n\n" + token + end, "oh hi \n", ""},
		"an object as a token is kept":             {"data:{\"event\":\"token\",\"data\":{\"a\":1}}\n" + end, `{"a":1}`, ""},
		"other lines are skipped":                  {": hello\nid: 1\n\n" + token + end, "hi \n", ""},
		"lines may end like on Windows":            {strings.ReplaceAll(token+end, "\n", "\r\n"), "hi \n", ""},
		"a last line without an end counts":        {token + strings.TrimRight(end, "\n"), "hi \n", ""},
		"a stream that breaks off is no answer":    {start + token, "hi \n", api.KindUnavailable},
		"a stream that breaks in an event is none": {start + token + "message:\ndata:{\"ev", "hi \n", api.KindUnavailable},
		"an error in it is a failed flow":          {start + "data:{\"event\":\"error\",\"data\":\"no model\"}\n" + end, "", api.KindFailed},
		"an error without an end is a failed flow": {start + "data:{\"event\":\"error\",\"data\":\"no model\"}\n", "", api.KindFailed},
		"an event that is no JSON is a bad stream": {start + "data:{bad}\n" + end, "", api.KindUnavailable},
		"a stream without an end has a limit":      {strings.Repeat(token, 1000), "", api.KindTooLarge},
		"usedTools and metadata are part of it": {
			"data:{\"event\":\"usedTools\",\"data\":[{\"tool\":\"add\",\"toolInput\":{},\"toolOutput\":\"5\"}]}\n" +
				"data:{\"event\":\"metadata\",\"data\":{\"chatId\":\"c\",\"question\":\"q\"}}\n" + token + end, "hi \n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := canned(t, events, tc.body, func(c *api.Config) { c.MaxAnswer = 10_000 })
			seen := 0
			got, err := client.Stream(t.Context(), api.FlowID("", name), api.Question{Question: "q"}, func(api.Event) error { seen++; return nil })
			if (tc.kind == "" && err != nil) || (tc.kind != "" && !api.IsKind(err, tc.kind)) {
				t.Fatalf("Stream = %v, want %q", err, tc.kind)
			}
			if tc.kind != api.KindTooLarge && got.Text != tc.want {
				t.Errorf("text = %q, want %q", got.Text, tc.want)
			}
			if strings.Contains(name, "usedTools") && (len(got.UsedTools) != 1 || got.ChatID != "c" || seen != 4) {
				t.Errorf("answer = %+v after %d events", got, seen)
			}
		})
	}
}

func TestReaderOfAStreamMayStopIt(t *testing.T) {
	t.Parallel()
	client := canned(t, "text/event-stream", "data:{\"event\":\"token\",\"data\":\"a\"}\ndata:{\"event\":\"token\",\"data\":\"b\"}\n", nil)
	enough := errors.New("enough")
	got, err := client.Stream(t.Context(), api.FlowID("", "x"), api.Question{}, func(api.Event) error { return enough })
	if !errors.Is(err, enough) || got.Text != "a" {
		t.Errorf("Stream = %q, %v", got.Text, err)
	}
}

func TestPredictionsAreSentOnce(t *testing.T) {
	t.Parallel()
	for _, fault := range []sandboxkit.Kind{sandboxkit.ResetBefore, sandboxkit.ResetAfter, sandboxkit.Unavailable, sandboxkit.HalfAnswer} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			id := b.server.AddFlow("f", "AGENTFLOW", empty)
			b.server.Inject(sandboxkit.Fault{Kind: fault, Count: -1})
			_, err := b.client.Predict(t.Context(), id, api.Question{Question: "hi"})
			if e, is := api.AsError(err); !is || e.Kind != api.KindUnavailable || e.Effect != contracts.EffectUnknown {
				t.Errorf("Predict = %v, want unavailable, effect unknown", err)
			}
			if got := len(b.server.Requests()); got != 1 {
				t.Errorf("%d requests, want 1", got)
			}
		})
	}
}

func TestPredictionsEndInTime(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.PredictTimeout = 50 * time.Millisecond })
	id := b.server.AddFlow("f", "AGENTFLOW", empty)
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.Slow})
	if _, err := b.client.Predict(t.Context(), id, api.Question{Question: "hi"}); !api.IsKind(err, api.KindTimeout) {
		t.Errorf("Predict = %v, want a time-out", err)
	}
}

func TestWordsOfAFailedFlowAreNoMissingFlow(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.server.AddFlow("f", "CHATFLOW", empty)
	_, err := b.client.Predict(t.Context(), id, api.Question{Question: "hi"})
	if !api.IsKind(err, api.KindFailed) || !strings.Contains(err.Error(), "Ending nodes not found") {
		t.Errorf("Predict = %v, want a failed flow", err)
	}
}

func TestInstances(t *testing.T) {
	t.Parallel()
	getenv := func(name string) string { return map[string]string{"PROD_KEY": "k2"}[name] }
	list, err := api.ParseInstances(`[{"id":"dev","endpoint":"http://127.0.0.1:1","api_key":"k1"},
		{"id":"prod","title":"Production","endpoint":"https://flowise.example.com/","api_key":"env:PROD_KEY","default":true}]`, getenv)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := api.NewPool(list, api.Config{})
	if err != nil {
		t.Fatal(err)
	}
	got := pool.Instances()
	if len(got) != 2 || got[0].Title != "dev" || got[0].Default || !got[1].Default || got[0].APIKey+got[1].APIKey != "" {
		t.Errorf("Instances = %+v", got)
	}
	byName, err1 := pool.Client("prod")
	fallback, err2 := pool.Client("")
	if err1 != nil || err2 != nil || byName != fallback {
		t.Errorf("Client = %p (%v), %p (%v), want the same", byName, err1, fallback, err2)
	}
	if _, err := pool.Client("nope"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("Client of an unknown instance = %v", err)
	}
}

func TestBadInstancesAreRefusedWithoutTheirKeys(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":            `[{"id":"dev","api_key":"s3cret"`,
		"an unknown member":  `[{"id":"dev","endpoint":"http://h","api_key":"s3cret","keys":"s3cret"}]`,
		"a key that is gone": `[{"id":"dev","endpoint":"http://h","api_key":"env:GONE"}]`,
		"no instance":        `[]`,
		"a bad id":           `[{"id":"De v","endpoint":"http://h","api_key":"s3cret"}]`,
		"an id twice":        `[{"id":"a","endpoint":"http://h","api_key":"s3cret"},{"id":"a","endpoint":"http://h","api_key":"s3cret"}]`,
		"two defaults":       `[{"id":"a","endpoint":"http://h","api_key":"s3cret","default":true},{"id":"b","endpoint":"http://h","api_key":"s3cret","default":true}]`,
		"no URL":             `[{"id":"a","endpoint":"flowise","api_key":"s3cret"}]`,
		"a password in it":   `[{"id":"a","endpoint":"http://u:s3cret@h","api_key":"s3cret"}]`,
		"no key":             `[{"id":"a","endpoint":"http://h","api_key":""}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := api.ParseInstances(text, func(string) string { return "" })
			if err == nil {
				_, err = api.NewPool(list, api.Config{})
			}
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error = %v", err)
			}
		})
	}
}
