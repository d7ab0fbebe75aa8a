package api_test

import (
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// The link leads to the page of the flow's type at the public URL.
func TestALinkLeadsToThePageOfAFlow(t *testing.T) {
	t.Parallel()
	pool, err := api.NewPool([]api.Instance{
		{ID: "dev", Endpoint: "http://flowise:3000/api/v1/", APIKey: "k"},
		{ID: "live", Endpoint: "http://10.0.0.7:3000", APIKey: "k", Page: "https://bots.example.com/"},
	}, api.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		instance string
		kind     api.FlowType
		want     string
	}{
		{"", api.Chatflow, "http://flowise:3000/canvas/a%2Fb"},
		{"dev", api.Agentflow, "http://flowise:3000/v2/agentcanvas/a%2Fb"},
		{"live", api.MultiAgent, "https://bots.example.com/agentcanvas/a%2Fb"},
		{"live", api.Assistant, ""},
		{"none", api.Chatflow, ""},
	} {
		if got := pool.Page(c.instance, api.Flow{ID: "a/b", Type: c.kind}); got != c.want {
			t.Errorf("%s at %q: %q, want %q", c.kind, c.instance, got, c.want)
		}
	}
}
