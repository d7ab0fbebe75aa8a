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

// Encode encodes ops as JSON.
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

// Target decodes a flow for editing.
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

// Mender plans fixes that need no input. The zero value plans none.
type Mender struct {
	target edit.Target
	// byType are the credential ids by type, known the types by id.
	byType map[string][]string
	known  map[string]string
}

// Mender returns a Mender for a flow with the server's credentials.
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

// NewestFirst sorts credentials by last change: if several fit and nobody chose, the newest is
// probably the one in use.
func NewestFirst(all []knowledge.Credential) []knowledge.Credential {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b knowledge.Credential) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return out
}

// Errors returns the errors of the flow.
func (m *Mender) Errors() []flow.Finding {
	return flow.Validate(m.target.Graph.FlowData(), m.target.Defs, flow.Check{Kind: m.target.Kind, Credentials: m.known}).Errors()
}

// choose selects the newest of several suitable credentials.
func (m *Mender) choose() {
	for kind, ids := range m.byType {
		m.byType[kind] = ids[:1]
	}
}

// Mend returns the ops that fix findings, and the findings that remain.
func (m *Mender) Mend(wrong ...flow.Finding) (ops []flow.Op, left []flow.Finding) {
	if m.target.Graph == nil {
		return nil, wrong
	}
	return m.target.Repairs(wrong, m.byType)
}
