package postgres

// Queued is how many writes wait for the writer.
func (s *Store) Queued() int { return s.writer.Len() }
