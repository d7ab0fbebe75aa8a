package sqlite

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/manifold-run/manifold/contracts"
)

// inodeLock prevents other servers from opening the database by another name: a second hard link,
// or the removal of the lock file, would bypass the lock file. It is a flock, which SQLite does
// not use here and which the operating system releases when the process ends.
type inodeLock struct {
	file *os.File
	id   inode
}

type inode struct{ device, number uint64 }

// inodes are the open databases of this process. Opening and closing one of them a second time
// would release SQLite's own locks on it.
var inodes sync.Map

// takeInodeLock locks an existing file. It returns an error of code conflict if the file is
// locked.
func takeInodeLock(path string) (*inodeLock, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s has no inode", path)
	}
	id := inode{stat.Dev, stat.Ino}
	if _, taken := inodes.LoadOrStore(id, true); taken {
		return nil, inUse(path)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the operator says where the data is
	if err == nil {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			err = errors.Join(err, file.Close())
		}
	}
	if err == nil {
		return &inodeLock{file, id}, nil
	}
	inodes.Delete(id)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, inUse(path)
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP):
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the file system of %s cannot lock files; put the database on a local one: %w", path, err)
	default:
		return nil, err
	}
}

func inUse(path string) error {
	return contracts.Errorf(contracts.CodeConflict, "the database %s is in use by another process, maybe under another name; stop that one or choose another file", path)
}

// Release releases the lock. It may be called on nil.
func (l *inodeLock) Release() error {
	if l == nil {
		return nil
	}
	// Closing alone does not suffice: a child process between fork and exec shares the open file.
	err := errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
	inodes.Delete(l.id)
	return err
}
