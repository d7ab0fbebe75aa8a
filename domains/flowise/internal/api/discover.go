package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Ping checks that the server answers and accepts the key. It needs no permission.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/nodes/customFunction"})
	if IsKind(err, KindNotFound) {
		return nil // the server looked for the node, so the key is valid
	}
	return err
}

// Version returns the version of the server.
func (c *Client) Version(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	err := c.get(ctx, "/version", "", &out)
	return out.Version, err
}

// cached reads data that rarely changes.
func (c *Client) cached(ctx context.Context, path string, out any) error {
	op := call{method: http.MethodGet, path: path}
	raw, err := c.cache.get(ctx, path, func(ctx context.Context) ([]byte, error) { return c.do(ctx, op) })
	if err != nil {
		return err
	}
	return decode(op, raw, out)
}

// Forget clears the cache.
func (c *Client) Forget() { c.cache.clear() }

// Nodes returns the definitions of all nodes.
func (c *Client) Nodes(ctx context.Context) ([]json.RawMessage, error) {
	var out []json.RawMessage
	err := c.cached(ctx, "/nodes", &out)
	return out, err
}

// NodesNow is like Nodes without the cache.
func (c *Client) NodesNow(ctx context.Context) ([]json.RawMessage, error) {
	c.cache.drop("/nodes")
	return c.Nodes(ctx)
}

// Node returns the definition of one node.
func (c *Client) Node(ctx context.Context, name string) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.cached(ctx, "/nodes/"+url.PathEscape(name), &out)
	return out, err
}

// Template is a flow template of the server. Its id changes with each call, so it is not decoded.
type Template struct {
	Name        string   `json:"templateName"`
	Type        string   `json:"type"` // AgentflowV2, Chatflow, Tool
	Description string   `json:"description"`
	Badge       string   `json:"badge"`
	Framework   []string `json:"framework"`
	UseCases    []string `json:"usecases"`
	FlowData    string   `json:"flowData"`
}

// Templates returns the templates with their graphs.
func (c *Client) Templates(ctx context.Context) ([]Template, error) {
	var out []Template
	err := c.cached(ctx, "/marketplaces/templates", &out)
	return out, err
}

// Credential is the public part of a credential. The encrypted secret that the server may send is
// never decoded.
type Credential struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Kind        string    `json:"credentialName"`
	CreatedDate time.Time `json:"createdDate"`
	UpdatedDate time.Time `json:"updatedDate"`
}

// Credentials returns the credentials. It does not use the server's filter by type: with it, the
// answer contains the encrypted secrets.
func (c *Client) Credentials(ctx context.Context) ([]Credential, error) {
	var all []Credential
	err := c.get(ctx, "/credentials", "", &all)
	return all, err
}

// Choice is an option of a node parameter.
type Choice struct {
	Label string `json:"label"`
	Name  string `json:"name"`
}

// Choices returns the options of a parameter by its load method. The server returns no options for
// an unknown method, and an entry with an error message for a failed one, which is left out.
func (c *Client) Choices(ctx context.Context, node, method string) ([]Choice, error) {
	op := call{method: http.MethodPost, path: "/node-load-method/" + url.PathEscape(node), label: "/node-load-method/:name"}
	raw, err := c.cache.get(ctx, op.path+"#"+method, func(ctx context.Context) ([]byte, error) {
		asked := op
		body, err := encode(map[string]any{"name": node, "loadMethod": method, "inputs": map[string]any{}})
		if err != nil {
			return nil, err
		}
		asked.body = body
		return c.do(ctx, asked)
	})
	if err != nil {
		return nil, err
	}
	var all []Choice
	if err := decode(op, raw, &all); err != nil {
		return nil, err
	}
	out := make([]Choice, 0, len(all))
	for _, choice := range all {
		if choice.Name != "" && choice.Name != "error" {
			out = append(out, choice)
		}
	}
	return out, nil
}
