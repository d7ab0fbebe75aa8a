//go:build !unix

package sqlitestore

// presence is not supported on this system: a retry waits for the lease of a process that died.
type presence struct{}

func enter(string, func() error) (*presence, error) { return &presence{}, nil }

func (*presence) leave() error { return nil }
