package runstate

import "github.com/manifold-run/manifold/contracts"

// The formats of runs: what is hashed and what is recorded. A run is read,
// decided, replayed and verified by the rules of its own, for good.
const (
	// Format1 knows neither edges of order nor merge rules nor rounds, and no sentence
	// of an action.
	Format1 = 1
	Format2 = 2
	// Format3 salts what its ledger keeps of plans, actions and payloads.
	Format3 = 3
)

// Format is what this release writes. A replica acquires only runs whose format
// it knows.
const Format = Format3

// Formats are those that this release knows.
func Formats() []int { return []int{Format1, Format2, Format3} }

// ActionHash is what an approval is bound to, by the rules of the run's format.
func (s *State) ActionHash(a contracts.Action) (string, error) {
	if a.Parameters == nil {
		a.Parameters = map[string]any{}
	}
	if a.Evidence == nil {
		a.Evidence = []contracts.EvidenceItem{} // a row hashes the same when it is read again
	}
	if s.Run.Format < Format2 {
		a.Utterance = nil // it knew no sentence
	}
	return contracts.Hash(a)
}
