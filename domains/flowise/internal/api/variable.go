package api

import "context"

// Variable is a named value that flows use as $vars.name. Its value is not read.
type Variable struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Variables returns the variables of the server.
func (c *Client) Variables(ctx context.Context) ([]Variable, error) {
	var out []Variable
	err := c.get(ctx, "/variables", "", &out)
	return out, err
}
