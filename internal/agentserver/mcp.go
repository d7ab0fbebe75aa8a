package agentserver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

const (
	// listed is how long the list of a caller's tools is cached.
	listed = 5 * time.Second
	// maxCallers bounds the callers whose lists are cached.
	maxCallers = 256
	// maxWait bounds how long a tool call waits for an answer.
	maxWait = 45 * time.Second

	instructions = "Manifold turns requests into approved, verified actions. Reads are tools. Everything that changes something is asked for in words, " +
		"with ask or run_start, and waits for a person to approve it in Manifold; no tool can approve."
)

// Config configures the servers; zero values take the defaults in brackets.
type Config struct {
	Version string
	// Wait bounds how long a tool call waits for an answer [45s, which is also the maximum].
	Wait   time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Wait <= 0 || c.Wait > maxWait {
		c.Wait = maxWait
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// MCP serves Manifold as an MCP server.
type MCP struct {
	cfg     Config
	backend Backend
	http    http.Handler

	mu      sync.Mutex // guards callers
	callers map[[sha256.Size]byte]offered
}

// offered is the cached server of a caller.
type offered struct {
	server *mcp.Server
	reads  *sessions
	at     time.Time
}

// NewMCP returns a server that calls the backend.
func NewMCP(cfg Config, backend Backend) *MCP {
	f := &MCP{cfg: cfg.withDefaults(), backend: backend, callers: map[[sha256.Size]byte]offered{}}
	streamable := mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: 1 << 20,
	})
	f.http = http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.admit(w, r, streamable)
	}))
	return f
}

// ServeHTTP serves the streamable HTTP endpoint.
func (f *MCP) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.http.ServeHTTP(w, r) }

// Serve serves one client over a transport, such as standard input and output.
func (f *MCP) Serve(ctx context.Context, t mcp.Transport) error {
	c, err := f.backend(nil)
	if err != nil {
		return err
	}
	server, err := f.offer(ctx, c, &sessions{})
	if err != nil {
		return err
	}
	return server.Run(ctx, t)
}

// serving is the context key of the server for a request.
type serving struct{}

func serverOf(r *http.Request) *mcp.Server {
	s, _ := r.Context().Value(serving{}).(*mcp.Server) // nil is answered with 400
	return s
}

// admit authenticates the caller before the body is read.
func (f *MCP) admit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Set(address, r.RemoteAddr)
	server, err := f.forCaller(r.Context(), r.Header)
	if err != nil {
		refuse(w, err)
		return
	}
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serving{}, server)))
}

// refuse writes an error in the API's format.
func refuse(w http.ResponseWriter, err error) {
	status := map[contracts.Code]int{
		contracts.CodeUnauthorized: http.StatusUnauthorized, contracts.CodeForbidden: http.StatusForbidden,
		contracts.CodeRateLimited: http.StatusTooManyRequests, contracts.CodeInvalid: http.StatusBadRequest,
	}[contracts.CodeOf(err)]
	if status == 0 {
		status = http.StatusServiceUnavailable
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	p := contracts.Problem{Title: http.StatusText(status), Status: status, Code: contracts.CodeOf(err), Detail: messageOf(err)}
	_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
}

// forCaller returns the server with what this caller may see. The caller is authenticated for every
// request; the list of tools is cached for a short time.
func (f *MCP) forCaller(ctx context.Context, header http.Header) (*mcp.Server, error) {
	c, err := f.backend(header)
	if err != nil {
		return nil, err
	}
	me, err := c.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(me)
	if err != nil {
		return nil, err
	}
	key, now := sha256.Sum256(raw), f.cfg.Now()
	known, ok := f.known(key)
	if ok && now.Sub(known.at) < listed {
		return known.server, nil
	}
	if !ok {
		known.reads = &sessions{}
	}
	server, err := f.offer(ctx, c, known.reads)
	if err == nil {
		f.keep(key, offered{server, known.reads, now})
	}
	return server, err
}

func (f *MCP) known(key [sha256.Size]byte) (offered, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.callers[key]
	return o, ok
}

func (f *MCP) keep(key [sha256.Size]byte, o offered) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.callers) >= maxCallers {
		for old := range f.callers { // any one: it is rebuilt on its next request
			delete(f.callers, old)
			break
		}
	}
	f.callers[key] = o
}

// offer returns a server with everything that a caller may use.
func (f *MCP) offer(ctx context.Context, c *client.Client, reads *sessions) (*mcp.Server, error) {
	capabilities, err := c.Capabilities(ctx, "")
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "manifold", Title: "Manifold", Version: f.cfg.Version}, &mcp.ServerOptions{
		Instructions: instructions, PageSize: 1000, Logger: f.cfg.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(listed.Milliseconds()), "private"
		},
	})
	f.addRequests(server)
	for i := range capabilities {
		f.addRead(server, &capabilities[i], reads)
		addPrompt(server, &capabilities[i])
	}
	f.addResources(ctx, server, c)
	return server, nil
}

// caller returns an API client with the caller's credentials.
func (f *MCP) caller(extra *mcp.RequestExtra) (*client.Client, error) {
	if extra == nil {
		return f.backend(nil)
	}
	return f.backend(extra.Header)
}

// messageOf returns the error message for the caller.
func messageOf(err error) string {
	if e, ok := errors.AsType[*contracts.Error](err); ok {
		return describe(e)
	}
	return err.Error()
}

func describe(e *contracts.Error) string {
	lines := []string{e.Message}
	for _, fault := range e.Faults {
		lines = append(lines, fault.Pointer+": "+fault.Message)
	}
	return strings.Join(lines, "\n")
}
