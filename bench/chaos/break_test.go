package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestADiskIsFullUntilItIsFreed fills a disk and frees it.
func TestADiskIsFullUntilItIsFreed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := newDisk(dir)
	if err != nil {
		t.Skip(err) // it needs root on Linux
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	write := func() error { return os.WriteFile(filepath.Join(dir, "much"), make([]byte, 1<<20), 0o600) }
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "before"), make([]byte, 1<<20), 0o600), d.fill()); err != nil {
		t.Fatal(err)
	}
	if err := write(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("written on a full disk: %v", err)
	}
	if err := errors.Join(d.free(), write()); err != nil {
		t.Errorf("after it was freed: %v", err)
	}
}

// TestAProcessFollowsItsClock checks a set clock, for the database by its library.
func TestAProcessFollowsItsClock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lib, err := library(t.Context(), dir)
	if err != nil {
		t.Skip(err) // it needs a C compiler
	}
	c, err := newClock(filepath.Join(dir, "clock"))
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		if err := c.step(by); err != nil {
			t.Fatal(err)
		}
		date := exec.CommandContext(t.Context(), "date", "+%s")
		date.Env = append(os.Environ(), c.env(), "LD_PRELOAD="+lib)
		out, err := date.Output()
		if err != nil {
			t.Fatal(err)
		}
		says, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if off := time.Until(time.Unix(says, 0)); err != nil || (off-by).Abs() > time.Minute {
			t.Errorf("the clock was set by %s, and is off by %s (%v)", by, off, err)
		}
	}
}
