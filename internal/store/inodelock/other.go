//go:build !linux

package inodelock

// Lock is for systems where flock and SQLite's own locks are known not to
// meet; elsewhere the lock beside the file has to do.
type Lock struct{}

// Take gives no lock.
func Take(string) (*Lock, error) { return nil, nil } //nolint:nilnil // no lock

// Release does nothing.
func (*Lock) Release() error { return nil }
