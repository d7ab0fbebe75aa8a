//go:build !linux

package sqlite

// inodeLock is for systems where flock and SQLite's own locks are known not to
// meet; elsewhere the lock beside the file has to do.
type inodeLock struct{}

// takeInodeLock returns no lock.
func takeInodeLock(string) (*inodeLock, error) { return nil, nil } //nolint:nilnil // no lock

// Release does nothing.
func (*inodeLock) Release() error { return nil }
