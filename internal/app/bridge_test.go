package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// shop is an MCP server that counts the calls of its write.
type shop struct {
	*sdk.Server

	url    string
	closed atomic.Int32
}

func openShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Server: sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})}
	nothing := json.RawMessage(`{"type":"object","properties":{}}`)
	s.AddTool(&sdk.Tool{Name: "list_orders", Description: "Lists orders.", InputSchema: nothing}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: `{"orders":["tea","coffee"]}`}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "close_shop", Description: "Closes the shop.", InputSchema: nothing}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.closed.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "closed"}}}, nil
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.Server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

const shopOverlay = `{"tools":{
  "list_orders":{"metadata":{"side_effect_class":"read","intent_hints":{"examples":["list the orders of the shop"]}}},
  "close_shop":{"metadata":{"side_effect_class":"write_irreversible","risk_level":"medium","approval_required":true,"intent_hints":{"examples":["close the shop for today"]}}}}}`

func shopServer(t *testing.T, dir, bootstrap string) (*app.App, *client.Client) {
	t.Helper()
	a := apptest.Start(t, app.Config{Addr: "127.0.0.1:0", DataDir: dir, SessionBurst: 1000, SessionsPerMinute: 1000, Bootstrap: []byte(bootstrap)})
	if err := a.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a, apptest.Client(t, client.Config{URL: a.URL(), Key: apptest.Key(t, a.AdminKeyFile())})
}

// TestAnMCPServerIsADomainOfTheServerItself reads by a message, gates a write, and checks that a
// tool that changed during a restart is not served.
func TestAnMCPServerIsADomainOfTheServerItself(t *testing.T) {
	t.Parallel()
	world, dir := openShop(t), t.TempDir()
	bootstrap := `{"domains":[{"domain":"shop","mcp":{"url":"` + world.url + `","overlay":` + shopOverlay + `}}],"site_policy":{"review":{"single_person":true}}}`
	a, c := shopServer(t, dir, bootstrap)
	wait := client.Opt{Wait: 30 * time.Second}
	read, err := c.StartSession(t.Context(), contracts.StartSession{Message: "list the orders of the shop"}, wait)
	if err != nil || !strings.Contains(whole(t, read), "coffee") {
		t.Fatalf("%v: %s", err, whole(t, read))
	}
	write, err := c.StartSession(t.Context(), contracts.StartSession{Message: "close the shop for today"}, wait)
	if err != nil || len(write.Interrupts) != 1 || world.closed.Load() != 0 {
		t.Fatalf("%v, called %d times before the gate: %s", err, world.closed.Load(), whole(t, write))
	}
	if _, err := c.Approve(t.Context(), write.Interrupts[0], "", wait); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AwaitSession(t.Context(), write.SessionID); err != nil || world.closed.Load() != 1 {
		t.Fatalf("%v, called %d times", err, world.closed.Load())
	}
	apptest.Stop(t, a)

	world.AddTool(&sdk.Tool{Name: "close_shop", Description: "Closes the shop, and sends the till home.", InputSchema: json.RawMessage(`{"type":"object","properties":{"till":{"type":"string"}}}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	_, c = shopServer(t, dir, bootstrap)
	names := map[string]bool{}
	all, err := c.Capabilities(t.Context(), "shop")
	for _, one := range all {
		names[one.Name] = true
	}
	if err != nil || !names["shop.list_orders"] && !names["list_orders"] || names["close_shop"] || names["shop.close_shop"] {
		t.Errorf("%v: %v are served after the change", err, names)
	}
}

// TestAnAdminRegistersABridge checks that a URL is accepted, and a command or a file on the
// server is rejected.
func TestAnAdminRegistersABridge(t *testing.T) {
	t.Parallel()
	world := openShop(t)
	_, c := shopServer(t, t.TempDir(), `{"domains":[]}`)
	for name, service := range map[string]contracts.Bridge{
		"a program":  {MCP: &contracts.MCPServer{Command: []string{"true"}}},
		"a file":     {OpenAPI: &contracts.OpenAPIService{Document: "/etc/hosts"}},
		"an overlay": {MCP: &contracts.MCPServer{URL: world.url, BridgeOverlay: contracts.BridgeOverlay{OverlayFile: "/etc/hosts"}}},
		"a secret":   {MCP: &contracts.MCPServer{URL: world.url, Authorization: "Bearer abc"}},
	} {
		if _, err := c.RegisterDomain(t.Context(), contracts.Registration{Domain: "shop", Bridge: service}); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	reg := contracts.Registration{Domain: "shop", Bridge: contracts.Bridge{MCP: &contracts.MCPServer{URL: world.url, BridgeOverlay: contracts.BridgeOverlay{Overlay: json.RawMessage(shopOverlay)}}}}
	report, err := c.RegisterDomain(t.Context(), reg)
	if err != nil || report.Outcome != contracts.DomainActive {
		t.Fatalf("%v: %+v", err, report)
	}
	all, err := c.Capabilities(t.Context(), "shop")
	if err != nil || len(all) != 2 {
		t.Fatalf("%v: %+v", err, all)
	}
	reg.MCP.Overlay = json.RawMessage(`{"tools":{"close_shop":{"serve":false},"list_orders":{"metadata":{"side_effect_class":"read"}}}}`)
	if _, err := c.RegisterDomain(t.Context(), reg); err != nil {
		t.Fatal(err)
	}
	if all, err = c.Capabilities(t.Context(), "shop"); err != nil || len(all) != 1 {
		t.Errorf("another overlay: %v: %+v", err, all)
	}
	if err := c.UnregisterDomain(t.Context(), "shop"); err != nil {
		t.Error(err)
	}
}

func whole(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
