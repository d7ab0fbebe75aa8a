//go:build !linux

package sqlite

// inodeLock is for systems where flock and SQLite's own locks are known not to
// meet; elsewhere the lock beside the file has to do.
type inodeLock struct{}

func lockInode(string) (*inodeLock, error) { return nil, nil } //nolint:nilnil // no lock

func (*inodeLock) release() error { return nil }
