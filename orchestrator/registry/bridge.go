package registry

import (
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// bridgeURL returns a unique URL for a bridge within the server. It differs for another service or
// overlay, and its host can never be resolved.
func bridgeURL(domain string, b contracts.Bridge) string {
	hash, err := contracts.Hash(map[string]any{"domain": domain, "bridge": b})
	if err != nil {
		hash = domain // it was validated before, so it encodes
	}
	hash = strings.TrimPrefix(hash, "sha256:")
	return "http://" + hash[:min(len(hash), 32)] + ".bridge.invalid"
}

// checkURL checks the URLs of a service; a pack has none.
func (c Config) checkURL(reg contracts.Registration) error {
	var urls []string
	switch {
	case reg.Pack != nil:
		return nil
	case !reg.Given():
		urls = []string{reg.URL}
	case !c.AllowEmbedded:
		return contracts.Errorf(contracts.CodeInvalid, "this server runs no bridge itself, since others share its database; run \"manifold bridge\" as a program and register its URL")
	case reg.MCP != nil && reg.MCP.URL != "":
		urls = []string{reg.MCP.URL}
	case reg.OpenAPI != nil:
		for _, text := range []string{reg.OpenAPI.Document, reg.OpenAPI.Base} {
			if isURL(text) {
				urls = append(urls, text)
			}
		}
	}
	for _, text := range urls {
		if err := c.CheckURL(text); err != nil {
			return err
		}
	}
	return nil
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// bridgeFaults validates the service behind a bridge within the server.
func bridgeFaults(at string, reg contracts.Registration) []contracts.Fault {
	if !reg.Given() {
		return nil
	}
	var faults faultList
	if reg.Domain == "" {
		faults.add(at+"/domain", "is required for a bridge")
	}
	if reg.MCP != nil && reg.OpenAPI != nil {
		faults.add(at+"/openapi", "there is an mcp as well; a domain has one service")
	}
	if reg.URL != "" || reg.Pack != nil || reg.Authorization != "" {
		faults.add(at, "mcp and openapi stand in the place of url, pack and authorization")
	}
	if m := reg.MCP; m != nil {
		faults = append(faults, mcpFaults(at+"/mcp", m)...)
	}
	if o := reg.OpenAPI; o != nil {
		faults = append(faults, openapiFaults(at+"/openapi", o)...)
	}
	return faults
}

func mcpFaults(at string, m *contracts.MCPServer) []contracts.Fault {
	var faults faultList
	if (m.URL == "") == (len(m.Command) == 0) {
		faults.add(at, "needs either url or command")
	}
	if why := urlFault(m.URL); m.URL != "" && why != "" {
		faults.add(at+"/url", why)
	}
	if m.Authorization != "" && (m.URL == "" || !authorizationForm.MatchString(m.Authorization)) {
		faults.add(at+"/authorization", `must be "env:NAME", and belongs to a url`)
	}
	if m.TokenFile != "" && (m.URL == "" || m.Authorization != "") {
		faults.add(at+"/token_file", "belongs to a url, and stands in the place of authorization")
	}
	if l := m.Logins; l != nil {
		if m.URL == "" {
			faults.add(at+"/logins", "belong to a url")
		}
		if l.ClientSecret != "" && (l.ClientID == "" || !authorizationForm.MatchString(l.ClientSecret)) {
			faults.add(at+"/logins/client_secret", `must be "env:NAME", and belongs to a client_id`)
		}
	}
	if len(m.Env) > 0 && len(m.Command) == 0 {
		faults.add(at+"/env", "belongs to a command")
	}
	return append(faults, overlayFaults(at, m.BridgeOverlay)...)
}

func openapiFaults(at string, o *contracts.OpenAPIService) []contracts.Fault {
	var faults faultList
	if o.Document == "" {
		faults.add(at+"/document", "is required")
	}
	if why := urlFault(o.Base); o.Base != "" && why != "" {
		faults.add(at+"/base", why)
	}
	if (o.Scheme == "") != (o.Secret == "") || o.Secret != "" && !authorizationForm.MatchString(o.Secret) {
		faults.add(at+"/secret", `scheme and secret belong together, and the secret must be "env:NAME"`)
	}
	return append(faults, overlayFaults(at, o.BridgeOverlay)...)
}

func overlayFaults(at string, o contracts.BridgeOverlay) []contracts.Fault {
	if len(o.Overlay) > 0 && o.OverlayFile != "" {
		return []contracts.Fault{{Pointer: at + "/overlay_file", Message: "there is an overlay as well"}}
	}
	return nil
}

// remoteFaults rejects what only the bootstrap file may contain: programs and files on the server's
// machine.
func remoteFaults(reg contracts.Registration) []contracts.Fault {
	var faults faultList
	refuse := func(at string, named bool) {
		if named {
			faults.add(at, fmt.Sprintf("only the bootstrap file may name %s of the server's machine", map[bool]string{true: "programs", false: "files"}[at == "/mcp/command"]))
		}
	}
	if m := reg.MCP; m != nil {
		refuse("/mcp/command", len(m.Command) > 0)
		refuse("/mcp/token_file", m.TokenFile != "")
		refuse("/mcp/overlay_file", m.OverlayFile != "")
	}
	if o := reg.OpenAPI; o != nil {
		refuse("/openapi/document", !isURL(o.Document))
		refuse("/openapi/overlay_file", o.OverlayFile != "")
	}
	return faults
}
