package sandbox_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// The suite runs against the sandbox, and against a real Flowise if FLOWISE_URL and FLOWISE_KEY are
// set ("make test-flowise" does that). It covers everything on which the domain relies, so that
// sandbox and server cannot diverge.
// away from the server that it stands for.

func TestSandboxConforms(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	conform(t, target{url: srv.URL, key: s.Key()})
}

func TestRealFlowiseConforms(t *testing.T) {
	t.Parallel()
	real := target{url: os.Getenv("FLOWISE_URL"), key: os.Getenv("FLOWISE_KEY")}
	if real.url == "" || real.key == "" {
		if os.Getenv("REQUIRE_FLOWISE") == "1" {
			t.Fatal("REQUIRE_FLOWISE is set, but FLOWISE_URL and FLOWISE_KEY are not")
		}
		t.Skip("no real Flowise: run make test-flowise, or set FLOWISE_URL and FLOWISE_KEY")
	}
	conform(t, real)
}

type target struct{ url, key string }

func conform(t *testing.T, at target) {
	client, err := api.New(api.Config{BaseURL: at.url, Key: at.key})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, target, *api.Client){
		"discovery tells what is there":                    discovery,
		"what is not there is told in many ways":           absence,
		"a wrong key is refused":                           wrongKey,
		"a flow is kept byte for byte":                     bytes,
		"a create under a chosen id happens once":          createOnce,
		"a post over an existing id overwrites":            overwrite,
		"a change keeps what it does not name":             change,
		"lists are newest first, by type and in pages":     lists,
		"broken graphs are refused before they are saved":  refusedGraphs,
		"a graph without edges is saved and called failed": savedDespite,
		"broken graphs fail only when they are asked":      failingGraphs,
		"a function answers, and never streams":            function,
		"an agent flow answers whole and in pieces":        agentFlow,
		"a condition chooses the way":                      condition,
		"a form is filled in once for a conversation":      form,
		"answers are found in the history, by their chat":  history,
		"variables are filled only where listed":           unlisted,
		"a chain says what its model says":                 chain,
		"a model without a credential fails when asked":    unboundModel,
		"an agent uses a tool of an MCP server":            agentWithTools,
		"credentials come without secrets":                 credentials,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, at, client)
		})
	}
}

// raw calls the server without the client.
func (at target) raw(t *testing.T, method, path, body string) (status int, kind, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+at.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ = strings.Cut(res.Header.Get("Content-Type"), ";")
	return res.StatusCode, kind, string(out)
}

func newID(t *testing.T) string {
	t.Helper()
	return api.FlowID("conformance", t.Name()+rand.Text())
}

// removed deletes a flow at the end of a test.
func removed(t *testing.T, client *api.Client, id string) {
	t.Helper()
	t.Cleanup(func() {
		err := client.DeleteFlow(context.WithoutCancel(t.Context()), id)
		if err != nil && !api.IsKind(err, api.KindNotFound) {
			t.Errorf("clean up: %v", err)
		}
	})
}

func wantError(t *testing.T, err error, kind api.Kind, text string) {
	t.Helper()
	e, is := api.AsError(err)
	if !is || e.Kind != kind || !strings.Contains(e.Message, text) {
		t.Errorf("error = %v, want kind %s with %q", err, kind, text)
	}
}

func discovery(t *testing.T, _ target, client *api.Client) {
	version, err := client.Version(t.Context())
	if err != nil || version != "3.1.1" {
		t.Errorf("Version = %q, %v", version, err)
	}
	if err := client.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
	nodes, err := client.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	derived, err := knowledge.Derive(version, nodes)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	if derived.Fingerprint() != shipped.Fingerprint() {
		t.Error("the server's nodes are other ones than those shipped")
	}
	one, err := client.Node(t.Context(), "toolAgent")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := knowledge.DeriveNode(one)
	if known, _ := shipped.Node("toolAgent"); err != nil || agent.Hash != known.Hash {
		t.Errorf("toolAgent = %+v, %v, want it as it was shipped", agent, err)
	}
	templates, err := client.Templates(t.Context())
	if err != nil || len(templates) < 2 || templates[0].Name == "" || !strings.Contains(templates[0].FlowData, `"nodes"`) {
		t.Errorf("%d templates, %v", len(templates), err)
	}
}

func absence(t *testing.T, at target, client *api.Client) {
	if status, kind, body := at.raw(t, http.MethodGet, "/nope", ""); status != 200 || kind != "text/html" || !strings.Contains(body, "Flowise") {
		t.Errorf("an unknown path: %d %s", status, kind)
	}
	id := newID(t)
	_, err := client.GetFlow(t.Context(), id)
	wantError(t, err, api.KindNotFound, id)
	_, err = client.UpdateFlow(t.Context(), id, api.FlowChange{Name: new("x")})
	wantError(t, err, api.KindNotFound, id)
	wantError(t, client.DeleteFlow(t.Context(), id), api.KindNotFound, id)
	_, err = client.Predict(t.Context(), id, api.Question{Question: "hi"})
	wantError(t, err, api.KindNotFound, id)
	_, err = client.Node(t.Context(), "nope")
	wantError(t, err, api.KindNotFound, "Node nope not found")
	for path, want := range map[string]int{
		"GET /chatflows/nope": 400, "DELETE /chatflows/nope": 500, "DELETE /chatflows/" + id: 500, "PUT /chatflows/" + id: 404,
		"GET /nodes/nope": 500, "POST /prediction/nope": 400, "POST /prediction/" + id: 404,
	} {
		method, path, _ := strings.Cut(path, " ")
		status, kind, body := at.raw(t, method, path, map[bool]string{true: "", false: "{}"}[method == http.MethodGet])
		var said struct {
			StatusCode int
			Message    string
		}
		if err := json.Unmarshal([]byte(body), &said); err != nil || status != want || said.StatusCode != want || said.Message == "" || kind != "application/json" {
			t.Errorf("%s %s: %d %s %s, want %d", method, path, status, kind, body, want)
		}
	}
}

func wrongKey(t *testing.T, at target, _ *api.Client) {
	client, err := api.New(api.Config{BaseURL: at.url, Key: "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, client.Ping(t.Context()), api.KindUnauthorized, "Unauthorized Access")
	_, err = client.ListFlows(t.Context(), api.FlowQuery{})
	wantError(t, err, api.KindUnauthorized, "Unauthorized Access")
	if _, err := client.Version(t.Context()); err != nil {
		t.Errorf("the version needs no key: %v", err)
	}
}

func bytes(t *testing.T, _ target, client *api.Client) {
	data := "{ \"viewport\":{\"x\":1.50,\"y\":0,\"zoom\":1},\r\n\"nodes\": [], \"edges\":[], \"unknown\": \"\\u2028 <b>é</b> 😀 \u2028\" }"
	f := saved(t, client, api.Chatflow, data)
	got, err := client.GetFlow(t.Context(), f.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data, got.FlowData); diff != "" {
		t.Errorf("flowData (-want +got):\n%s", diff)
	}
	if got.UpdatedDate.Nanosecond() != 0 || got.CreatedDate.IsZero() {
		t.Errorf("dates = %v, %v, want whole seconds", got.CreatedDate, got.UpdatedDate)
	}
}

func createOnce(t *testing.T, _ target, client *api.Client) {
	first := saved(t, client, api.Chatflow, `{"nodes":[],"edges":[]}`)
	again, err := client.CreateFlow(t.Context(), api.NewFlow{ID: first.ID, Name: first.Name, Type: first.Type, FlowData: first.FlowData})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the repeat differs (-first +again):\n%s", diff)
	}
	_, err = client.CreateFlow(t.Context(), api.NewFlow{ID: first.ID, Name: "other", Type: first.Type, FlowData: first.FlowData})
	wantError(t, err, api.KindConflict, "another one")
	_, err = client.CreateFlow(t.Context(), api.NewFlow{ID: newID(t), Name: "x", Type: "chatflow", FlowData: first.FlowData})
	wantError(t, err, api.KindInvalid, "Invalid Chatflow Type")
}

func overwrite(t *testing.T, at target, client *api.Client) {
	f := saved(t, client, api.Chatflow, `{"nodes":[],"edges":[]}`)
	status, _, body := at.raw(t, http.MethodPost, "/chatflows", `{"id":"`+f.ID+`","name":"second","type":"AGENTFLOW","flowData":"{\"nodes\":[],\"edges\":[],\"n\":2}"}`)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	got, err := client.GetFlow(t.Context(), f.ID)
	if err != nil || got.Name != "second" || got.Type != api.Agentflow || !strings.Contains(got.FlowData, `"n":2`) {
		t.Errorf("flow = %+v, %v, want the second", got, err)
	}
}

func change(t *testing.T, at target, client *api.Client) {
	f := saved(t, client, api.Chatflow, `{"nodes":[],"edges":[]}`)
	got, err := client.UpdateFlow(t.Context(), f.ID, api.FlowChange{Name: new("renamed")})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "renamed" || got.FlowData != f.FlowData || got.Type != f.Type {
		t.Errorf("flow = %+v", got)
	}
	for name, body := range map[string]string{
		"no JSON": `{"flowData":"{bad"}`, "empty": `{"flowData":""}`, "an object": `{"flowData":{"nodes":[]}}`, "no nodes": `{"flowData":"{}"}`,
	} {
		status, _, text := at.raw(t, http.MethodPut, "/chatflows/"+f.ID, body)
		now, err := client.GetFlow(t.Context(), f.ID)
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusInternalServerError || now.FlowData != f.FlowData {
			t.Errorf("%s: %d %s; flowData is %q", name, status, text, now.FlowData)
		}
	}
}

func lists(t *testing.T, _ target, client *api.Client) {
	a := saved(t, client, api.MultiAgent, `{"nodes":[],"edges":[]}`)
	b := saved(t, client, api.MultiAgent, `{"nodes":[],"edges":[]}`)
	page, err := client.ListFlows(t.Context(), api.FlowQuery{Type: api.MultiAgent})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range page.Flows {
		if f.Type != api.MultiAgent || f.FlowData == "" {
			t.Errorf("%s is of type %s", f.ID, f.Type)
		}
		ids = append(ids, f.ID)
	}
	if !slices.Contains(ids, a.ID) || !slices.Contains(ids, b.ID) || !slices.IsSortedFunc(page.Flows, func(x, y api.Flow) int { return y.UpdatedDate.Compare(x.UpdatedDate) }) {
		t.Errorf("flows = %v, want %s and %s, newest first", ids, a.ID, b.ID)
	}
	part, err := client.ListFlows(t.Context(), api.FlowQuery{Type: api.MultiAgent, Limit: 1})
	if err != nil || len(part.Flows) != 1 || part.Total < 2 {
		t.Errorf("page = %d of %d, %v", len(part.Flows), part.Total, err)
	}
}

func refusedGraphs(t *testing.T, at target, client *api.Client) {
	for sent, want := range map[string]string{
		`null`:         "reading 'nodes'",
		`""`:           "Unexpected end of JSON input",
		`"{bad"`:       "Expected property name or '}'",
		`"null"`:       "reading 'nodes'",
		`"[]"`:         "nodes is not iterable",
		`"{}"`:         "nodes is not iterable",
		`{"nodes":[]}`: "is not valid JSON",
		`"{\"nodes\":[{\"id\":\"a\"}],\"edges\":[]}"`: "reading 'category'",
	} {
		id := newID(t)
		removed(t, client, id)
		status, _, body := at.raw(t, http.MethodPost, "/chatflows", `{"id":"`+id+`","name":"x","type":"CHATFLOW","flowData":`+sent+`}`)
		if status != http.StatusInternalServerError || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want 500 with %q", sent, status, body, want)
		}
		if _, err := client.GetFlow(t.Context(), id); !api.IsKind(err, api.KindNotFound) {
			t.Errorf("%s: was saved (%v)", sent, err)
		}
	}
}

func savedDespite(t *testing.T, _ target, client *api.Client) {
	id := newID(t)
	removed(t, client, id)
	_, err := client.CreateFlow(t.Context(), api.NewFlow{ID: id, Name: "x", Type: api.Chatflow, FlowData: `{"nodes":[]}`})
	wantError(t, err, api.KindFailed, "reading 'map'")
	if e, is := api.AsError(err); is && e.Effect != contracts.EffectApplied {
		t.Errorf("effect = %s, want applied: the row is there", e.Effect)
	}
	if _, err := client.GetFlow(t.Context(), id); err != nil {
		t.Errorf("the row is not there: %v", err)
	}
	_, err = client.CreateFlow(t.Context(), api.NewFlow{ID: newID(t), Name: "x", Type: api.Chatflow, FlowData: `{}`})
	if e, is := api.AsError(err); !is || e.Effect != contracts.EffectNone {
		t.Errorf("%v, want no effect: the row is not there", err)
	}
}

func credentials(t *testing.T, at target, client *api.Client) {
	made := at.credential(t)
	all, err := client.Credentials(t.Context())
	if err != nil || !slices.ContainsFunc(all, func(c api.Credential) bool { return c.ID == made && c.Name == t.Name() && c.Kind == "openAIApi" }) {
		t.Errorf("Credentials = %+v, %v, want %s among them", all, err, made)
	}
	if _, _, body := at.raw(t, http.MethodGet, "/credentials", ""); strings.Contains(body, "encryptedData") {
		t.Error("the list holds secrets")
	}
	if _, _, body := at.raw(t, http.MethodGet, "/credentials?credentialName=openAIApi", ""); !strings.Contains(body, "encryptedData") {
		t.Error("the server no longer leaks secrets when a kind is asked for: the client may use its filter")
	}
}

// credential saves a model's credential for one test, as a user does in Flowise.
func (at target) credential(t *testing.T) (id string) {
	t.Helper()
	body := `{"name":"` + t.Name() + `","credentialName":"openAIApi","plainDataObj":{"openAIApiKey":"sk-secret"}}`
	status, _, text := at.raw(t, http.MethodPost, "/credentials", body)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	t.Cleanup(func() {
		// The test and its context have ended.
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodDelete, at.url+"/api/v1/credentials/"+made.ID, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+at.key)
		if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("clean up: %v", err)
		} else {
			_ = res.Body.Close()
		}
	})
	return made.ID
}
