package workflow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Entry returns the catalog entry of a workflow: a capability with the highest class and risk of
// its steps. If the workflow names capabilities that nobody offers now, it returns these instead of
// an entry; then the workflow is inactive.
func Entry(m *contracts.Manifest, w *contracts.Workflow, catalog *contracts.Catalog) (entry *contracts.CapabilityEntry, missing []string, err error) {
	s := survey{catalog: catalog, missing: map[string]bool{}, digests: map[string]string{}, policy: contracts.Metadata{SideEffectClass: contracts.ClassRead}.Policy(false)}
	s.visit(m, w, 1)
	if s.undone {
		for _, e := range slices.Clone(s.calls) {
			if undo := compensationOf(catalog, e); undo != nil {
				s.add(undo)
			}
		}
	}
	if len(s.missing) > 0 {
		return nil, slices.Sorted(maps.Keys(s.missing)), nil
	}
	capability := w.AsCapability()
	capability.Metadata.SideEffectClass, capability.Metadata.RiskLevel = s.policy.SideEffectClass, s.policy.RiskLevel
	digest, err := contracts.Hash(struct {
		Workflow *contracts.Workflow `json:"workflow"`
		Calls    map[string]string   `json:"calls"`
	}{w, s.digests})
	if err != nil {
		return nil, nil, fmt.Errorf("digest of %s.%s: %w", m.Domain, w.Name, err)
	}
	return &contracts.CapabilityEntry{Domain: m.Domain, Capability: capability, Policy: s.policy, Digest: digest, Workflow: w}, nil, nil
}

// survey collects what the steps of a workflow call.
type survey struct {
	catalog *contracts.Catalog
	missing map[string]bool
	digests map[string]string
	policy  contracts.Policy
	// undone means that compensations of the steps' writes may be called.
	undone bool
	calls  []*contracts.CapabilityEntry
}

func (s *survey) visit(m *contracts.Manifest, w *contracts.Workflow, depth int) {
	if shape, faults := readShape(w); len(faults) == 0 {
		s.undone = s.undone || len(rollbacks(s.catalog, m, shape)) > 0
	}
	for _, step := range w.Steps {
		switch {
		case step.Tool != "":
			s.call(qualified(m.Domain, step.Tool))
		case step.Reason != nil && step.Reason.Fallback != nil:
			s.call(qualified(m.Domain, step.Reason.Fallback.Capability))
		case step.Plays != "":
			s.players(m, w, step)
		case step.Workflow != "":
			s.inner(m, step.Workflow, depth)
		}
	}
}

func (s *survey) call(ref string) {
	entry, ok := s.catalog.Capability(ref)
	if !ok || entry.Workflow != nil {
		s.missing[ref] = true
		return
	}
	s.add(entry)
}

func (s *survey) add(entry *contracts.CapabilityEntry) {
	s.calls = append(s.calls, entry)
	s.digests[entry.Ref()] = entry.Digest
	if classRank(entry.Policy.SideEffectClass) > classRank(s.policy.SideEffectClass) {
		s.policy.SideEffectClass = entry.Policy.SideEffectClass
	}
	if entry.Policy.RiskLevel.Rank() > s.policy.RiskLevel.Rank() {
		s.policy.RiskLevel = entry.Policy.RiskLevel
	}
}

func classRank(c contracts.SideEffectClass) int {
	return slices.Index([]contracts.SideEffectClass{
		contracts.ClassRead, contracts.ClassSuggest, contracts.ClassWriteReversible, contracts.ClassWriteIrreversible,
	}, c)
}

func (s *survey) players(m *contracts.Manifest, w *contracts.Workflow, step contracts.Step) {
	players := playing(s.catalog, m, w, step)
	if len(players) == 0 {
		s.missing[nobody(s.catalog, m, step)] = true
	}
	for _, p := range players {
		s.add(p.Entry)
	}
}

// grants reports whether the workflows of a manifest may call the players of a role. Those of a
// pack may, because an administrator registered the pack.
func grants(catalog *contracts.Catalog, home *contracts.Manifest, role string) bool {
	d, known := catalog.Domain(home.Domain)
	return role == contracts.RoleNotifier || home.IsPack() || known && slices.Contains(d.Roles, role)
}

// nobody describes why a role has no player.
func nobody(catalog *contracts.Catalog, home *contracts.Manifest, step contracts.Step) string {
	if len(catalog.Playing(step.Plays)) > 0 && !grants(catalog, home, step.Plays) {
		return "the role " + step.Plays + ", which the registration of " + home.Domain + " does not grant"
	}
	return "somebody who plays " + step.Plays
}

func (s *survey) inner(home *contracts.Manifest, ref string, depth int) {
	w, of := findWorkflow(s.catalog, home, ref)
	switch {
	case w == nil:
		s.missing[qualified(home.Domain, ref)] = true
	case depth >= maxDepth:
		s.missing[qualified(home.Domain, ref)+" at a depth of at most "+fmt.Sprint(maxDepth)] = true
	default:
		s.visit(of, w, depth+1)
	}
}
