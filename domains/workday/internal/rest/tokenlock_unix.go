//go:build unix

package rest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 10 * time.Millisecond

// Lock keeps other processes from using the token until unlock. The system frees the
// lock of a process that dies.
func (f *FileTokens) Lock(ctx context.Context) (unlock func() error, err error) {
	file, err := os.OpenFile(filepath.Clean(f.path+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the token file: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			// Closing would not do: a child process between fork and exec has it open too.
			return func() error { return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close()) }, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) && sleep(ctx, lockPoll) {
			continue
		}
		return nil, errors.Join(fmt.Errorf("lock the token file: %w", err), ctx.Err(), file.Close())
	}
}
