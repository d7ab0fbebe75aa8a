package agentserver

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

const (
	runResources = "manifold://runs/"
	// recentRuns bounds the runs that are listed as resources.
	recentRuns = 20
	// maxResource bounds one resource, in bytes.
	maxResource = 1 << 20
	// maxPromptExamples bounds the examples of a prompt.
	maxPromptExamples = 5
)

// addResources adds runs and their artifacts as resources.
func (f *MCP) addResources(ctx context.Context, server *mcp.Server, api *client.Client) {
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "run", Title: "A run", URITemplate: runResources + "{run_id}", MIMEType: "application/json",
		Description: "Everything that is known of a run: its plan, its steps and what they found.",
	}, f.readRun)
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "artifact", Title: "An artifact of a run", URITemplate: runResources + "{run_id}/artifacts/{sha256}", MIMEType: "application/json",
		Description: "A big value that a step of a run has found.",
	}, f.readArtifact)
	runs, err := api.Runs(ctx, client.RunsFilter{Limit: recentRuns})
	if err != nil {
		return // callers who may not list runs get no resources
	}
	for _, r := range runs {
		server.AddResource(&mcp.Resource{
			Name: r.RunID, Title: r.Goal, URI: runResources + url.PathEscape(r.RunID), MIMEType: "application/json", Description: "a run, " + string(r.State),
		}, f.readRun)
	}
}

func (f *MCP) readRun(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	parts := strings.Split(strings.TrimPrefix(req.Params.URI, runResources), "/")
	api, id, err := f.named(req, parts, 1)
	if err != nil {
		return nil, err
	}
	view, err := api.Run(ctx, id, client.Opt{})
	if err != nil {
		return nil, missing(req, err)
	}
	text, err := asText(view)
	if err != nil {
		return nil, err
	}
	return resource(req, text)
}

func (f *MCP) readArtifact(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	parts := strings.Split(strings.TrimPrefix(req.Params.URI, runResources), "/")
	api, id, err := f.named(req, parts, 3)
	if err != nil {
		return nil, err
	}
	body, err := api.Artifact(ctx, id, parts[2])
	if err != nil {
		return nil, missing(req, err)
	}
	return resource(req, string(body))
}

// named returns an API client and the id of the run that a resource URI names.
func (f *MCP) named(req *mcp.ReadResourceRequest, parts []string, want int) (*client.Client, string, error) {
	id, err := url.PathUnescape(parts[0])
	if err != nil || len(parts) != want {
		return nil, "", mcp.ResourceNotFoundError(req.Params.URI)
	}
	api, err := f.caller(req.Extra)
	return api, id, err
}

func missing(req *mcp.ReadResourceRequest, err error) error {
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	return err
}

func resource(req *mcp.ReadResourceRequest, text string) (*mcp.ReadResourceResult, error) {
	if len(text) > maxResource {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "it has %d bytes, more than %d; read it with the REST API", len(text), maxResource)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: text}}}, nil
}

// links returns links to the artifacts of a run.
func links(view contracts.RunView) []mcp.Content {
	var out []mcp.Content
	for _, n := range view.Nodes {
		for name, hash := range n.Artifacts {
			uri := runResources + url.PathEscape(view.RunID) + "/artifacts/" + strings.TrimPrefix(hash, "sha256:")
			out = append(out, &mcp.ResourceLink{URI: uri, Name: name, MIMEType: "application/json", Description: "found by " + n.NodeID})
		}
	}
	slices.SortFunc(out, func(a, b mcp.Content) int { return strings.Compare(linkURI(a), linkURI(b)) })
	return out
}

func linkURI(c mcp.Content) string {
	raw, err := c.MarshalJSON()
	var link struct{ URI string }
	if err != nil || json.Unmarshal(raw, &link) != nil {
		return ""
	}
	return link.URI
}

// addPrompt adds a capability as a prompt, with the examples of its manifest.
func addPrompt(server *mcp.Server, c *contracts.CapabilityView) {
	if len(c.Examples) == 0 || !c.Routable {
		return
	}
	examples := c.Examples[:min(len(c.Examples), maxPromptExamples)]
	server.AddPrompt(&mcp.Prompt{
		Name: ToolName(c.Ref), Title: c.Ref, Description: c.Description,
		Arguments: []*mcp.PromptArgument{{Name: "request", Description: "The request in other words, such as: " + strings.Join(examples, "; ")}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		words := examples[0]
		if own := strings.TrimSpace(req.Params.Arguments["request"]); own != "" {
			words = own
		}
		return &mcp.GetPromptResult{Description: c.Description, Messages: []*mcp.PromptMessage{
			{Role: "user", Content: &mcp.TextContent{Text: "Ask Manifold, in these words: " + words}},
		}}, nil
	})
}
