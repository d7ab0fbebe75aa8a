package sandbox

import "slices"

// Effect is one write that took place.
type Effect struct {
	// Kind is flow.create, flow.overwrite, flow.update, flow.delete,
	// credential.create or credential.delete.
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// record adds an effect. The caller holds mu.
func (s *Server) record(kind, id, name string) {
	s.effects = append(s.effects, Effect{Kind: kind, ID: id, Name: name})
}

// Effects returns all writes that took place.
func (s *Server) Effects() []Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.effects)
}
