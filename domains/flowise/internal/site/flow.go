package site

import (
	"context"
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// FlowRef names a chatflow.
type FlowRef struct {
	Place
	ChatflowID string `json:"chatflow_id" pattern:"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" description:"Which chatflow"`
}

// Flow reads one flow.
func (s *Site) Flow(ctx context.Context, call domainkit.Call, id string) (api.Flow, error) {
	client, err := s.Pool.Client(call.Instance)
	if err != nil {
		return api.Flow{}, Failure(err)
	}
	f, err := client.GetFlow(ctx, id)
	if err != nil {
		return api.Flow{}, Failure(err)
	}
	return f, nil
}

// GraphOf reads one flow with its graph.
func (s *Site) GraphOf(ctx context.Context, call domainkit.Call, id string) (api.Flow, *flow.Graph, error) {
	f, err := s.Flow(ctx, call, id)
	if err != nil {
		return api.Flow{}, nil, err
	}
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return api.Flow{}, nil, Unreadable(err)
	}
	return f, g, nil
}

// Flow is the id of the flow.
func (r FlowRef) Flow() string { return r.ChatflowID }

// StateHash is the SHA-256 of all that people change about a flow, in hex: its
// graph, its name and its settings.
func StateHash(f api.Flow) string {
	state, err := json.Marshal([]any{
		HashOf(f.FlowData), f.Name, f.Type, truth(f.Deployed), truth(f.IsPublic), f.Category, f.ChatbotConfig, f.APIConfig, f.APIKeyID,
		f.Analytic, f.SpeechToText, f.TextToSpeech, f.FollowUpPrompts,
	})
	if err != nil {
		return "" // texts and truths can be written
	}
	return contracts.HashBytes(state)
}

func truth(b *bool) bool { return b != nil && *b }

// HashOf is the SHA-256 of a graph as it is stored, in hex.
func HashOf(flowData string) string { return contracts.HashBytes([]byte(flowData)) }

// EditedInFlowise is why a version was kept that somebody made in Flowise's own page,
// FirstSeen why the first one of a flow was that no write of this domain made.
const (
	EditedInFlowise = "edited in Flowise"
	FirstSeen       = "first seen"
)

// ByManifold is who made a version that a write of this domain is, NotKnown who made
// the first that was seen of a flow.
const (
	ByManifold = "Manifold"
	NotKnown   = "not known"
)

// MadeBy is who made a version, as far as that is known: Flowise keeps no names.
func MadeBy(v store.Version) string {
	switch v.Reason {
	case EditedInFlowise:
		return "somebody in Flowise"
	case FirstSeen:
		return NotKnown
	}
	return ByManifold
}

// ArtifactFlow is the name of the artifact that holds a graph: a JSON string,
// so that its bytes stay as they are.
const ArtifactFlow = "flow_data"

// KindOf returns the type of a flow as a kind of graph; an assistant has a graph
// of no kind of its own.
func KindOf(t api.FlowType) flow.Kind {
	kind := flow.Kind(t)
	if !kind.Valid() {
		return ""
	}
	return kind
}

// KeyedID makes an id of an idempotency key: of a new flow, or of a chat.
func KeyedID(operation, instance, key string) string {
	return api.FlowID(operation+"/"+instance, key)
}
