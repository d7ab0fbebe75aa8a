package flow_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/flowisetest"
)

// local are the local services and credentials that the built flows use.
type local struct {
	*strings.Replacer // replaces placeholders in ops or flowData
	model             *flowisetest.OpenAI
	url               string
	credentials       map[string]string // their types, by id

	server server
	t      *testing.T
}

// local starts the services of the built flows and stores a model's credential.
func (s server) local(t *testing.T) local {
	t.Helper()
	id := s.credential(t, "openAIApi")
	l := local{model: &flowisetest.OpenAI{}, credentials: map[string]string{id: "openAIApi"}, server: s, t: t}
	model, mcp := httptest.NewServer(l.model), httptest.NewServer(&flowisetest.MCP{})
	t.Cleanup(model.Close)
	t.Cleanup(mcp.Close)
	l.url = model.URL + "/v1"
	l.Replacer = strings.NewReplacer(someModel, l.url, someMCP, mcp.URL+"/mcp", someCredential, id)
	return l
}

// credential stores a credential with arbitrary secrets until the test ends.
func (s server) credential(t *testing.T, kind string) (id string) {
	t.Helper()
	var described struct{ Inputs []struct{ Name string } }
	if _, answer := s.call(t, http.MethodGet, "/components-credentials/"+kind, nil); json.Unmarshal(answer, &described) != nil {
		t.Fatalf("there is no credential of type %s", kind)
	}
	secrets := map[string]string{}
	for _, input := range described.Inputs {
		secrets[input.Name] = "k"
	}
	status, answer := s.call(t, http.MethodPost, "/credentials", map[string]any{"name": t.Name(), "credentialName": kind, "plainDataObj": secrets})
	var row struct{ ID string }
	if status != http.StatusOK || json.Unmarshal(answer, &row) != nil {
		t.Fatalf("create a credential: %d %s", status, answer)
	}
	t.Cleanup(func() { s.remove("/credentials/" + row.ID) })
	return row.ID
}
