package planner

import (
	"github.com/manifold-run/manifold/contracts"
)

// sharedJoin is the join of several intents whose capabilities share a join key.
type sharedJoin struct {
	key    string
	ends   []string
	anchor string
}

func (m *sharedJoin) add(a *plannedIntent) { m.ends = append(m.ends, a.built.ends...) }

// findSharedJoins finds the join keys that several intents have.
func (c *compiler) findSharedJoins(asks []*plannedIntent) {
	count := map[string]int{}
	for _, a := range asks {
		if key := a.target.Capability.Metadata.JoinKey; key != "" && a.step == nil {
			count[key]++
		}
	}
	for _, a := range asks {
		key := a.target.Capability.Metadata.JoinKey
		if a.meets = count[key] > 1; a.meets && c.shared[key] == nil {
			c.shared[key] = &sharedJoin{key: key}
		}
	}
}

// endsInSharedJoin reports whether a call ends in a join that several intents share.
func (c *compiler) endsInSharedJoin(cl *call) bool {
	return cl.role == "" && c.shared[cl.target.Capability.Metadata.JoinKey] != nil
}

// joinShared sets the shared join of an intent, which the first one adds, and adds the follow-ups.
func (c *compiler) joinShared(a *plannedIntent) error {
	if !a.meets {
		return nil
	}
	m := c.shared[a.target.Capability.Metadata.JoinKey]
	if m.anchor == "" {
		id, err := c.graph.add(contracts.Node{
			Kind: contracts.KindJoin, Role: contracts.RoleJoin, Title: "All of: " + cut(m.key, 60), DependsOn: m.ends,
			JoinKey: m.key, Phase: c.phase(a.target.CapabilityEntry), Required: true, BranchID: c.graph.nextID(),
		})
		if err != nil {
			return err
		}
		m.anchor = id
	}
	a.built.anchor = m.anchor
	return c.compose(a.call, a.built)
}
