package runstate

import "github.com/manifold-run/manifold/contracts"

// The formats of runs specify what is hashed and what is recorded. A run is always read, decided,
// replayed and verified by the rules of its own format.
const (
	// Format1 has no edges of order, merge rules or rounds, and actions have no sentence.
	Format1 = 1
	Format2 = 2
	// Format3 salts the plans, actions and payloads in its ledger.
	Format3 = 3
)

// Format is the format that this release writes. A replica acquires only runs whose format it
// knows.
const Format = Format3

// Formats returns the formats that this release knows.
func Formats() []int { return []int{Format1, Format2, Format3} }

// ActionHash returns the hash that an approval is bound to, by the rules of the run's format.
func (s *State) ActionHash(a contracts.Action) (string, error) {
	if a.Parameters == nil {
		a.Parameters = map[string]any{}
	}
	if a.Evidence == nil {
		a.Evidence = []contracts.EvidenceItem{} // a row must have the same hash when it is read again
	}
	if s.Run.Format < Format2 {
		a.Utterance = nil // that format has no sentence
	}
	return contracts.Hash(a)
}
