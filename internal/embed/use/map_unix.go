//go:build unix

package use

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// mapFile maps a file into memory: pages are read on demand, and the system may evict them.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path) //nolint:gosec // in the folder that the operator names
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() != tableBytes {
		return nil, nil, fmt.Errorf("%s has %d bytes, not %d; install it again", path, info.Size(), tableBytes)
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, tableBytes, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
