package read

import (
	"context"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// FlowPresence says whether a flow exists.
type FlowPresence struct {
	Found      bool   `json:"found"`
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
}

// Summary reports whether it exists.
func (f FlowPresence) Summary() string {
	if f.Found {
		return "there is the chatflow " + present.Clip(f.Name, 80)
	}
	return "there is no such chatflow"
}

func (r *Reader) findChatflow(ctx context.Context, call domainkit.Call, in site.FlowRef) (FlowPresence, error) {
	client, err := r.site.Pool.Client(call.Instance)
	if err != nil {
		return FlowPresence{}, site.Failure(err)
	}
	f, err := client.GetFlow(ctx, in.ChatflowID)
	switch {
	case api.IsKind(err, api.KindNotFound):
		return FlowPresence{ChatflowID: in.ChatflowID}, nil
	case err != nil:
		return FlowPresence{}, site.Failure(err)
	}
	return FlowPresence{Found: true, ChatflowID: f.ID, Name: present.NameOf(f.Name), SHA256: site.HashOf(f.FlowData)}, nil
}
