package author

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Encode writes ops as JSON.
func Encode(list []flow.Op) (Ops, error) {
	out := make(Ops, len(list))
	for i, op := range list {
		raw, err := json.Marshal(op)
		if err != nil {
			return nil, fmt.Errorf("op %s: %w", op.Type(), err)
		}
		out[i] = raw
	}
	return out, nil
}

// Target is a flow to edit.
type Target = edit.Target

// Target reads a flow to edit.
func (a *Author) Target(ctx context.Context, instance string, f api.Flow) (Target, error) {
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return Target{}, site.Unreadable(err)
	}
	defs, err := a.site.Definitions(ctx, instance)
	if err != nil {
		return Target{}, err
	}
	kind := site.KindOf(f.Type)
	if kind == "" {
		kind = flow.KindOf(g)
	}
	return Target{Graph: g, Kind: kind, Defs: defs}, nil
}

// Mender plans what can be mended without being told a value; the zero value mends nothing.
type Mender struct {
	target edit.Target
	// byType are the credentials of each type, known their types.
	byType map[string][]string
	known  map[string]string
}

// Mender makes one for a flow, which knows the credentials that there are.
func (a *Author) Mender(ctx context.Context, call domainkit.Call, t edit.Target) (*Mender, error) {
	all, _, err := a.site.Credentials(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	m := &Mender{t, map[string][]string{}, map[string]string{}}
	for _, c := range NewestFirst(all) {
		m.byType[c.Type] = append(m.byType[c.Type], c.ID)
		m.known[c.ID] = c.Type
	}
	return m, nil
}

// NewestFirst has the credential first that was changed last: where several would
// do and nobody chose, it is the one in use.
func NewestFirst(all []knowledge.Credential) []knowledge.Credential {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b knowledge.Credential) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return out
}

// Errors lists what is wrong with the flow.
func (m *Mender) Errors() []flow.Finding {
	return flow.Validate(m.target.Graph.FlowData(), m.target.Defs, flow.Check{Kind: m.target.Kind, Credentials: m.known}).Errors()
}

// choose takes the newest where several credentials would do.
func (m *Mender) choose() {
	for kind, ids := range m.byType {
		m.byType[kind] = ids[:1]
	}
}

// Mend returns the ops that mend what is wrong, and what is left.
func (m *Mender) Mend(wrong ...flow.Finding) (ops []flow.Op, left []flow.Finding) {
	if m.target.Graph == nil {
		return nil, wrong
	}
	return m.target.Repairs(wrong, m.byType)
}
