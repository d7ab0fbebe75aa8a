//go:build !linux

package sqlite

// inodeLock does nothing on this system. flock is used only on Linux, where it is known not to
// conflict with SQLite's own locks; here only the lock file protects the database.
type inodeLock struct{}

// takeInodeLock returns nil.
func takeInodeLock(string) (*inodeLock, error) { return nil, nil } //nolint:nilnil // no lock

// Release does nothing.
func (*inodeLock) Release() error { return nil }
