package main

import (
	"fmt"
	"syscall"
)

// disk is a separate file system that can be filled.
type disk struct{ path string }

// room is its size while it is not full. Only used pages take memory.
const room = 6 << 30

// newDisk mounts a file system in memory, which needs root.
func newDisk(path string) (*disk, error) {
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", int64(room))); err != nil {
		return nil, fmt.Errorf("mount a file system to fill: %w", err)
	}
	return &disk{path}, nil
}

// fill leaves no space beyond what is in use, except a few pages.
func (d *disk) fill() error {
	var is syscall.Statfs_t
	if err := syscall.Statfs(d.path, &is); err != nil {
		return err
	}
	return d.size((is.Blocks - is.Bfree + 16) * uint64(is.Bsize)) //nolint:gosec // the size of a block is positive
}

// free restores the space.
func (d *disk) free() error { return d.size(room) }

func (d *disk) size(bytes uint64) error {
	return syscall.Mount("tmpfs", d.path, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", bytes))
}

// close unmounts it, with everything in it.
func (d *disk) close() error { return syscall.Unmount(d.path, syscall.MNT_DETACH) }
