package agentserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/manifold-run/manifold/client"
)

const (
	// a2aPath is the endpoint of protocol version 1.0, a2aOldPath that of 0.3.
	a2aPath, a2aOldPath = "/a2a", "/a2a/v0.3"
	// maxA2ABody bounds a request, in bytes.
	maxA2ABody = 1 << 20
)

// A2A serves Manifold as an agent of the Agent2Agent protocol, over JSON-RPC. A context is a session,
// and the session's current work is its task.
type A2A struct {
	cfg      Config
	backend  Backend
	url      string
	handlers map[string]http.Handler
}

// NewA2A returns an agent that calls the backend. url is the public URL of this server [the one that
// the client used].
func NewA2A(cfg Config, backend Backend, url string) *A2A {
	a := &A2A{cfg: cfg.withDefaults(), backend: backend, url: strings.TrimRight(url, "/")}
	tasks := &a2aTasks{wait: a.cfg.Wait, card: a.card}
	a.handlers = map[string]http.Handler{
		a2asrv.WellKnownAgentCardPath: http.HandlerFunc(a.serveCard),
		a2aPath:                       a.admitted(a2asrv.NewJSONRPCHandler(tasks)),
		a2aOldPath:                    a.admitted(a2av0.NewJSONRPCHandler(tasks)),
	}
	return a
}

// Handler returns the handler of a path, nil if the path is not part of the protocol.
func (a *A2A) Handler(path string) http.Handler { return a.handlers[path] }

// a2aCaller is the context key of the caller's API client, a2aURL that of the URL of this server.
type (
	a2aCaller struct{}
	a2aURL    struct{}
)

// admitted authenticates the caller before the body is read.
func (a *A2A) admitted(next http.Handler) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(address, r.RemoteAddr)
		api, err := a.backend(r.Header)
		if err == nil {
			_, err = api.Whoami(r.Context())
		}
		if err != nil {
			refuse(w, err)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxA2ABody)
		ctx := context.WithValue(r.Context(), a2aCaller{}, api)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, a2aURL{}, a.base(r))))
	}))
}

// base returns the URL of this server.
func (a *A2A) base(r *http.Request) string {
	switch {
	case a.url != "":
		return a.url
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// serveCard serves the public agent card.
func (a *A2A) serveCard(w http.ResponseWriter, r *http.Request) {
	card := a.card(a.base(r), []a2a.AgentSkill{{
		ID: "ask", Name: "Ask Manifold", Tags: []string{"requests"},
		Description: "Answers questions and carries out requests in words. What would change something waits for a person's approval in Manifold.",
	}})
	a2asrv.NewAgentCardHandler(cardOfBoth{a2av0.NewStaticAgentCardProducer(card)}).ServeHTTP(w, r)
}

// cardOfBoth is a card that clients of both protocol versions can read. The card of the library's
// adapter has only the security schemes of 0.3, which its own 1.0 client rejects.
type cardOfBoth struct{ a2asrv.AgentCardProducer }

// CardJSON returns the card of 1.0, with the additional members of 0.3.
func (c cardOfBoth) CardJSON(ctx context.Context) ([]byte, error) {
	card, err := c.Card(ctx)
	if err != nil {
		return nil, err
	}
	current, err := json.Marshal(card)
	if err != nil {
		return nil, err
	}
	adapter, _ := c.AgentCardProducer.(a2asrv.AgentCardJSONProducer)
	previous, err := adapter.CardJSON(ctx)
	if err != nil {
		return nil, err
	}
	var both, old map[string]any
	if err := errors.Join(json.Unmarshal(current, &both), json.Unmarshal(previous, &old)); err != nil {
		return nil, err
	}
	addMissing(both, old)
	return json.Marshal(both)
}

// addMissing adds the members of from that to lacks, recursively.
func addMissing(to, from map[string]any) {
	for k, v := range from {
		inner, isObject := to[k].(map[string]any)
		others, areObject := v.(map[string]any)
		if _, there := to[k]; !there {
			to[k] = v
		} else if isObject && areObject {
			addMissing(inner, others)
		}
	}
}

func (a *A2A) card(base string, skills []a2a.AgentSkill) *a2a.AgentCard {
	const bearer = "bearer"
	return &a2a.AgentCard{
		Name: "Manifold", Version: a.cfg.Version, Description: instructionsA2A, Skills: skills,
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(base+a2aPath, a2a.TransportProtocolJSONRPC),
			{URL: base + a2aOldPath, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
		},
		Capabilities:         a2a.AgentCapabilities{ExtendedAgentCard: true},
		DefaultInputModes:    []string{"text/plain"},
		DefaultOutputModes:   []string{"text/plain", "application/json"},
		SecuritySchemes:      a2a.NamedSecuritySchemes{bearer: a2a.HTTPAuthSecurityScheme{Scheme: "Bearer", Description: "a key of Manifold"}},
		SecurityRequirements: a2a.SecurityRequirementsOptions{{bearer: {}}},
	}
}

const instructionsA2A = "Manifold turns requests into approved, verified actions. What would change something waits for a person to approve it in Manifold; " +
	"no message to this agent can approve."

// skills returns the routable capabilities of a caller.
func skills(ctx context.Context, api *client.Client) ([]a2a.AgentSkill, error) {
	capabilities, err := api.Capabilities(ctx, "")
	if err != nil {
		return nil, err
	}
	out := []a2a.AgentSkill{}
	for i := range capabilities {
		if c := &capabilities[i]; c.Routable {
			out = append(out, a2a.AgentSkill{
				ID: c.Ref, Name: c.Ref, Description: c.Description, Tags: []string{c.Domain}, Examples: c.Examples[:min(len(c.Examples), maxPromptExamples)],
			})
		}
	}
	return out, nil
}
