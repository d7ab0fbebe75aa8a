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

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 10 * time.Millisecond

// Lock keeps other processes from using the grant until unlock. The system frees the
// lock of a process that dies. Where the folder cannot be written there is none: nothing
// can be renewed there either.
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
			// Closing would not do: a child process between fork and exec has it open too.
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
