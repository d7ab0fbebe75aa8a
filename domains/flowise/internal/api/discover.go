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

// Credentials lists the credentials. The server's filter by kind is not used:
// with it, the answer holds the encrypted secrets.
func (c *Client) Credentials(ctx context.Context) ([]Credential, error) {
	var all []Credential
	err := c.get(ctx, "/credentials", "", &all)
	return all, err
}
