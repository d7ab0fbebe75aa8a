//go:build unix

package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// presence is a mark beside the file that every process holds as long as it has
// the file open, and that the system takes from one that dies.
type presence struct{ file *os.File }

// enter marks this process as present, and reports whether it is the only one: then
// whatever executions the file speaks of have died with their processes. settle is
// called while that is certain.
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

// leave takes the mark away.
func (p *presence) leave() error { return p.file.Close() }
