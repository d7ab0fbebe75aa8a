//go:build unix

package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// presence is a lock that every process holds while it has the file open. The system releases it
// when a process dies.
type presence struct{ file *os.File }

// enter acquires a shared lock. If no other process holds it, all executions in the file have died
// with their processes, and enter calls settle under an exclusive lock.
func enter(path string, settle func() error) (*presence, error) {
	file, err := os.OpenFile(filepath.Clean(path+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mark the presence at %s: %w", path, err)
	}
	p := &presence{file}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		if err := settle(); err != nil {
			return nil, errors.Join(err, p.leave())
		}
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH); err != nil {
		return nil, errors.Join(fmt.Errorf("mark the presence at %s: %w", path, err), p.leave())
	}
	return p, nil
}

// leave releases the lock.
func (p *presence) leave() error { return p.file.Close() }
