package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Ping makes sure that the server answers and accepts the key. No permission is
// needed for it.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/nodes/customFunction"})
	if IsKind(err, KindNotFound) {
		return nil // it looked for the node, so the key was good
	}
	return err
}

// Version is the version of the server.
func (c *Client) Version(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	err := c.get(ctx, "/version", "", &out)
	return out.Version, err
}

// cached reads what seldom changes.
func (c *Client) cached(ctx context.Context, path string, out any) error {
	op := call{method: http.MethodGet, path: path}
	raw, err := c.cache.get(ctx, path, func(ctx context.Context) ([]byte, error) { return c.do(ctx, op) })
	if err != nil {
		return err
	}
	return decode(op, raw, out)
}

// Forget drops everything that is kept, so that it is read anew.
func (c *Client) Forget() { c.cache.clear() }

// Nodes lists the definitions of all nodes.
func (c *Client) Nodes(ctx context.Context) ([]json.RawMessage, error) {
	var out []json.RawMessage
	err := c.cached(ctx, "/nodes", &out)
	return out, err
}

// NodesNow is Nodes, but asks anew.
func (c *Client) NodesNow(ctx context.Context) ([]json.RawMessage, error) {
	c.cache.drop("/nodes")
	return c.Nodes(ctx)
}

// Node reads the definition of one node.
func (c *Client) Node(ctx context.Context, name string) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.cached(ctx, "/nodes/"+url.PathEscape(name), &out)
	return out, err
}

// CredentialKinds lists the definitions of all kinds of credentials.
func (c *Client) CredentialKinds(ctx context.Context) ([]json.RawMessage, error) {
	var out []json.RawMessage
	err := c.cached(ctx, "/components-credentials", &out)
	return out, err
}

// Template is a flow that the server offers as a beginning. Its id is another
// one at each call, so it is not read.
type Template struct {
	Name        string   `json:"templateName"`
	Type        string   `json:"type"` // AgentflowV2, Chatflow, Tool
	Description string   `json:"description"`
	Badge       string   `json:"badge"`
	Framework   []string `json:"framework"`
	UseCases    []string `json:"usecases"`
	FlowData    string   `json:"flowData"`
}

// Templates lists the templates with their graphs.
func (c *Client) Templates(ctx context.Context) ([]Template, error) {
	var out []Template
	err := c.cached(ctx, "/marketplaces/templates", &out)
	return out, err
}

// Credential is what may be known about a credential. What the server adds, the
// encrypted secret included, is never read.
type Credential struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Kind        string    `json:"credentialName"`
	CreatedDate time.Time `json:"createdDate"`
	UpdatedDate time.Time `json:"updatedDate"`
}

// Credentials lists the credentials, of one kind or, without kind, of all.
func (c *Client) Credentials(ctx context.Context, kind string) ([]Credential, error) {
	// Not the server's filter: with it, the answer holds the encrypted secrets.
	var all []Credential
	if err := c.get(ctx, "/credentials", "", &all); err != nil {
		return nil, err
	}
	var out []Credential
	for _, cred := range all {
		if kind == "" || cred.Kind == kind {
			out = append(out, cred)
		}
	}
	return out, nil
}

// CreateCredential stores a credential. The server does not check that the kind
// exists.
func (c *Client) CreateCredential(ctx context.Context, name, kind string, secret map[string]any) (Credential, error) {
	var out Credential
	in := map[string]any{"name": name, "credentialName": kind, "plainDataObj": secret}
	err := c.send(ctx, call{method: http.MethodPost, path: "/credentials"}, in, &out)
	return out, err
}

// DeleteCredential deletes a credential.
func (c *Client) DeleteCredential(ctx context.Context, id string) error {
	op := call{method: http.MethodDelete, path: "/credentials/" + url.PathEscape(id), label: "/credentials/:id"}
	return c.send(ctx, op, nil, nil)
}

// Variable is a value that flows read as {{$vars.name}}.
type Variable struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Value string `json:"value"`
	Type  string `json:"type"` // static, runtime
}

// Variables lists the variables.
func (c *Client) Variables(ctx context.Context) ([]Variable, error) {
	var out []Variable
	err := c.get(ctx, "/variables", "", &out)
	return out, err
}

// Issue is what the server's own checker has to say about one node.
type Issue struct {
	NodeID string   `json:"id"`
	Label  string   `json:"label"`
	Name   string   `json:"name"`
	Issues []string `json:"issues"`
}

// CheckFlow runs the server's own checker over a saved flow. It is good for
// agent flows; about chatflows it says things that are not so.
func (c *Client) CheckFlow(ctx context.Context, id string) ([]Issue, error) {
	if _, err := flowCall(http.MethodGet, id); err != nil {
		return nil, err
	}
	var out []Issue
	err := c.get(ctx, "/validation/"+id, "/validation/:id", &out)
	return out, err
}

// CanStream tells whether predictions of the flow come in pieces when asked to.
func (c *Client) CanStream(ctx context.Context, id string) (bool, error) {
	if _, err := flowCall(http.MethodGet, id); err != nil {
		return false, err
	}
	var out struct {
		IsStreaming bool `json:"isStreaming"`
	}
	err := c.get(ctx, "/chatflows-streaming/"+id, "/chatflows-streaming/:id", &out)
	return out.IsStreaming, err
}

// Choice is one option that a node's method offers.
type Choice struct {
	Label       string `json:"label"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// LoadChoices asks a node for the options of a parameter, such as the tools of
// an MCP server. data is the node's data; a failure inside the node comes as
// one choice named "error".
func (c *Client) LoadChoices(ctx context.Context, node, method string, inputs map[string]any) ([]Choice, error) {
	op := call{method: http.MethodPost, path: "/node-load-method/" + url.PathEscape(node), label: "/node-load-method/:name", asks: true}
	var out []Choice
	err := c.send(ctx, op, map[string]any{"name": node, "loadMethod": method, "inputs": inputs}, &out)
	return out, err
}
