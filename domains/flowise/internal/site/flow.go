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

// FlowRef identifies a chatflow.
type FlowRef struct {
	Place
	ChatflowID string `json:"chatflow_id" pattern:"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" description:"Which chatflow"`
}

// Flow reads a flow.
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

// GraphOf reads a flow and decodes its graph.
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

// Flow returns the id of the flow.
func (r FlowRef) Flow() string { return r.ChatflowID }

// StateHash returns the SHA-256, in hex, of everything that people change in a flow: graph, name
// and settings.
func StateHash(f api.Flow) string {
	state, err := json.Marshal([]any{
		HashOf(f.FlowData), f.Name, f.Type, truth(f.Deployed), truth(f.IsPublic), f.Category, f.ChatbotConfig, f.APIConfig, f.APIKeyID,
		f.Analytic, f.SpeechToText, f.TextToSpeech, f.FollowUpPrompts,
	})
	if err != nil {
		return "" // strings and booleans can always be encoded
	}
	return contracts.HashBytes(state)
}

func truth(b *bool) bool { return b != nil && *b }

// HashOf returns the SHA-256 of a stored graph, in hex.
func HashOf(flowData string) string { return contracts.HashBytes([]byte(flowData)) }

// EditedInFlowise is the reason of a version that somebody saved in Flowise's UI, FirstSeen that of
// a flow's first version if this domain did not write it.
const (
	EditedInFlowise = "edited in Flowise"
	FirstSeen       = "first seen"
)

// ByManifold is the author of a version written by this domain, NotKnown that of a flow's first
// version.
const (
	ByManifold = "Manifold"
	NotKnown   = "not known"
)

// MadeBy returns the author of a version, if known: Flowise stores no names.
func MadeBy(v store.Version) string {
	switch v.Reason {
	case EditedInFlowise:
		return "somebody in Flowise"
	case FirstSeen:
		return NotKnown
	}
	return ByManifold
}

// ArtifactFlow is the name of the artifact with a graph. It is a JSON string, so that the graph's
// bytes are preserved.
const ArtifactFlow = "flow_data"

// KindOf returns the type of a flow as a kind of graph, or "" for an assistant, which has no own
// kind.
func KindOf(t api.FlowType) flow.Kind {
	kind := flow.Kind(t)
	if !kind.Valid() {
		return ""
	}
	return kind
}

// KeyedID derives the id of a new flow or chat from an idempotency key.
func KeyedID(operation, instance, key string) string {
	return api.FlowID(operation+"/"+instance, key)
}
