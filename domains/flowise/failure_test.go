package flowise_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise"
)

// answers serves one flow; other answers every request except reading it.
func (b *bench) answers(other http.HandlerFunc) {
	b.Helper()
	made := b.execute("compile_flow", object{"ops": replyOps("Pong")}, in{})
	row, err := json.Marshal(object{
		"id": exampleID, "name": "Support Bot", "type": "AGENTFLOW", "flowData": b.graph(made),
		"createdDate": "2026-01-01T00:00:00.000Z", "updatedDate": "2026-01-01T00:00:00.000Z",
	})
	if err != nil {
		b.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodGet {
			other(w, r)
			return
		}
		_, _ = w.Write(row)
	}))
	b.Cleanup(front.Close)
	b.config.Instances = []flowise.Instance{{ID: "test", Endpoint: front.URL, APIKey: "key"}}
	b.restart()
}

// TestWhatAServerSaysOfAFailureIsShownWithoutItsSecrets: models quote the key that they reject.
func TestWhatAServerSaysOfAFailureIsShownWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"statusCode":500,"success":false,"message":"Incorrect API key provided: sk-hush1234hush1234hush1234, password=hush1234","stack":{}}`))
	})
	for capability, wish := range map[string]object{
		"predict_chatflow": {"chatflow_id": exampleID, "question": "Hello"},
		"test_chatflow":    {"chatflow_id": exampleID},
		"rename_chatflow":  {"chatflow_id": exampleID, "name": "Another"},
	} {
		out := b.execute(capability, wish, in{key: capability})
		raw, err := json.Marshal(out)
		if err != nil || strings.Contains(string(raw), "hush") || !strings.Contains(string(raw), "Incorrect API key") {
			t.Errorf("%s: %s %v", capability, raw, err)
		}
	}
}

// TestAWriteWhoseAnswerIsTooLargeMayHaveTakenPlace: it was sent, and its answer was not read.
func TestAWriteWhoseAnswerIsTooLargeMayHaveTakenPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.answers(func(w http.ResponseWriter, _ *http.Request) {
		for range 65 {
			_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
		}
	})
	out := b.execute("rename_chatflow", object{"chatflow_id": exampleID, "name": "Another"}, in{key: "k"})
	if out.OK || out.Error.EffectOf() != contracts.EffectUnknown {
		t.Errorf("%v", out.Error)
	}
}
