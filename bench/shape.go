package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// The measured domain: its capabilities do nothing, or sleep.
const (
	domainName = "gauge"
	noop       = "check_gauge"
	napping    = "read_gauge"
	nappingOne = "read_gauge_in_turn"
	setting    = "set_gauge"
)

// nap is the duration of one read of the domain.
const nap = 50 * time.Millisecond

// shape is the form of a run: the number of nodes, one after the other or in parallel.
type shape struct {
	nodes    int
	parallel bool
}

func (s shape) String() string {
	if s.parallel {
		return fmt.Sprintf("%d in parallel", s.nodes)
	}
	return fmt.Sprintf("%d one after the other", s.nodes)
}

// plan returns the plan of a shape with the no-op capability.
func (s shape) plan(catalog *contracts.Catalog) contracts.Plan {
	ref := domainName + "." + noop
	p := contracts.Plan{
		Goal: s.String(), CapabilityDigests: map[string]string{},
		Owner: contracts.Principal{ID: "bench", Roles: []string{"operator"}},
	}
	entry, ok := catalog.Capability(ref)
	if !ok {
		return p // a run without nodes is refused
	}
	p.CapabilityDigests[ref] = entry.Digest
	for i := range s.nodes {
		n := contracts.Node{
			NodeID: nodeID(i), Kind: contracts.KindTool, Tool: ref, Required: true, Policy: &entry.Policy,
			Params: map[string]any{"name": nodeID(i)},
		}
		if i > 0 && !s.parallel {
			n.DependsOn = []string{nodeID(i - 1)}
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p
}

func nodeID(i int) string { return fmt.Sprintf("n%d", i+1) }

// noopCatalog declares the no-op capability.
func noopCatalog() (*contracts.Catalog, error) {
	c := &contracts.Capability{
		Name: noop, Description: "Does nothing.", Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}
	policy := c.Metadata.Policy(true)
	digest, err := contracts.CapabilityDigest(c, policy)
	if err != nil {
		return nil, err
	}
	entry := &contracts.CapabilityEntry{Domain: domainName, Capability: c, Policy: policy, Digest: digest}
	return contracts.NewCatalog("bench", []*contracts.DomainEntry{{
		Name: domainName, Capabilities: []*contracts.CapabilityEntry{entry},
	}}, nil), nil
}

// answer returns the result of the no-op capability, the same for every subject.
func answer(name string) contracts.ToolResult {
	return contracts.ToolResult{OK: true, Summary: name + " is fine", Facts: map[string]any{"name": name, "value": 42}}
}
