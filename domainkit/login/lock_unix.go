//go:build unix

package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPoll is the interval at which a lock held by another process is retried.
const lockPoll = 10 * time.Millisecond

// Lock locks the grant against other processes until unlock is called. The system releases the lock
// of a process that dies. In a read-only folder Lock does nothing: no grant can be renewed there
// either.
func (f *File) Lock(ctx context.Context) (unlock func() error, err error) {
	file, err := os.OpenFile(filepath.Clean(f.Path+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock the token file: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			// Closing the file is not enough: a child process between fork and exec shares it.
			return func() error { return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close()) }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock the token file: %w", err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock the token file: %w", ctx.Err()), file.Close())
		case <-time.After(lockPoll):
		}
	}
}
