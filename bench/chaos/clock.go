package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// clock is the offset of the wall clock of a process: seconds in a file that the process reads. The
// product does not depend on it.
type clock struct{ path string }

// clockEnv is the environment variable with the path of the file.
const clockEnv = "CHAOS_CLOCK"

func newClock(path string) (*clock, error) {
	c := &clock{path}
	return c, c.step(0)
}

func (c *clock) env() string { return clockEnv + "=" + c.path }

// step sets the offset of the clock from now on.
func (c *clock) step(by time.Duration) error {
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the database's user reads it
	if err != nil {
		return err
	}
	var seconds [8]byte
	binary.LittleEndian.PutUint64(seconds[:], uint64(by/time.Second)) //nolint:gosec // negative ones are read as they were written
	_, err = f.WriteAt(seconds[:], 0)
	return errors.Join(err, f.Close())
}

// steppedLibrary is the source of a library that overrides the clock of a database.
//
//go:embed stepped.c.txt
var steppedLibrary string

// library builds the library that a database is started with, so that its clock can be set.
func library(ctx context.Context, dir string) (string, error) {
	source, path := filepath.Join(dir, "stepped.c"), filepath.Join(dir, "stepped.so")
	if err := os.WriteFile(source, []byte(steppedLibrary), 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-O1", "-o", path, source).CombinedOutput() //nolint:gosec // paths of the harness' own folder
	if err != nil {
		return "", fmt.Errorf("the clock of the database cannot be set: %w %s", err, out)
	}
	return path, os.Chmod(path, 0o755) //nolint:gosec // the database's user loads it
}
