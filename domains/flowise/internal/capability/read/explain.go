package read

import (
	"context"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Explained describes what a chatflow does.
type Explained struct {
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	Type       string `json:"type"`
	Explanation
}

// Summary returns the shortened description.
func (e Explained) Summary() string {
	return present.Clip(present.Clip(e.Name, 60)+": "+e.Text, 290)
}

func (r *Reader) explainChatflow(ctx context.Context, call domainkit.Call, in site.FlowRef) (Explained, error) {
	f, g, err := r.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return Explained{}, err
	}
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return Explained{}, err
	}
	out := Explained{ChatflowID: f.ID, Name: present.NameOf(f.Name), Type: string(f.Type), Explanation: explain(g, site.KindOf(f.Type), defs)}
	for _, list := range []*[]string{&out.Answers, &out.Models, &out.Prompts, &out.Memory, &out.Documents, &out.Tools, &out.Guards, &out.Steps} {
		*list = present.Within(*list, 1200)
	}
	out.Text = present.Clip(out.Text, 2000)
	return out, nil
}
