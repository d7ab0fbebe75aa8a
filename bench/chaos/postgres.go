package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is a private PostgreSQL server that can be crashed and restarted.
type database struct {
	bin, dir string
	as       *syscall.Credential // nil unless we are root
	cmd      *exec.Cmd
	disk     *disk  // nil if none can be filled
	clock    *clock // nil if it cannot be set
	library  string // makes the server follow the clock
}

func newDatabase(ctx context.Context, dir string) (*database, error) {
	d := &database{dir: filepath.Join(dir, "pg")}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, missing := exec.LookPath("initdb"); missing == nil {
		found = []string{path}
	}
	if err != nil || len(found) == 0 {
		return d, errors.New("there is no PostgreSQL server here; install one (Debian: the package postgresql)")
	}
	d.bin = filepath.Dir(slices.Max(found))
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return d, err
	}
	if d.disk, err = newDisk(d.dir); err != nil {
		fmt.Fprintln(os.Stderr, "no disk will be full:", err)
	}
	if err := d.ordinary(dir); err != nil {
		return d, err
	}
	if d.library, err = library(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else if d.clock, err = newClock(filepath.Join(dir, "database.clock")); err != nil {
		return d, err
	}
	initdb := d.command(ctx, "initdb", "-D", filepath.Join(d.dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	if out, err := initdb.CombinedOutput(); err != nil {
		return d, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return d, d.start(ctx)
}

// ordinary gives the folder to another user than root, because PostgreSQL refuses to run as root.
func (d *database) ordinary(parent string) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr, os.Chown(d.dir, int(uid), int(gid)), os.Chmod(parent, 0o711)); err != nil { //nolint:gosec // others may only pass
		return err
	}
	d.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return nil
}

func (d *database) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(d.bin, program), args...) //nolint:gosec // a fixed program
	cmd.Dir = d.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: d.as}
	return cmd
}

// address returns the address of the database.
func (d *database) address() string {
	return "postgres:///postgres?" + url.Values{"host": {d.dir}, "user": {"postgres"}}.Encode()
}

// socket returns the path of the server's socket.
func (d *database) socket() string { return filepath.Join(d.dir, ".s.PGSQL.5432") }

// start starts the server and waits until it answers.
func (d *database) start(ctx context.Context) error {
	d.cmd = d.command(context.WithoutCancel(ctx), "postgres", "-D", filepath.Join(d.dir, "data"), "-k", d.dir, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "max_wal_size=256MB")
	if d.clock != nil {
		d.cmd.Env = append(os.Environ(), d.clock.env(), "LD_PRELOAD="+d.library)
	}
	log, err := os.OpenFile(filepath.Join(filepath.Dir(d.dir), "postgres.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	d.cmd.Stderr = log
	err = d.cmd.Start()
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	return d.answers(ctx)
}

// answers waits until the server answers.
func (d *database) answers(ctx context.Context) error {
	for {
		conn, err := pgx.Connect(ctx, d.address())
		if err == nil {
			return conn.Close(ctx)
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		}
	}
}

// fill fills the disk for a while. If the server has ended because of that, it is restarted.
func (d *database) fill(ctx context.Context, lasts time.Duration) error {
	if err := d.disk.fill(); err != nil {
		return err
	}
	waited := pause(ctx, lasts)
	if err := errors.Join(waited, d.disk.free()); err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := d.answers(soon); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := d.crash(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return d.start(ctx)
}

// close stops the server, and removes its disk.
func (d *database) close() error {
	err := d.crash()
	if d.disk != nil {
		err = errors.Join(err, d.disk.close())
	}
	return err
}

// crash stops the server at once, as it does itself after one of its processes has died: nothing
// more is written.
func (d *database) crash() error {
	if d.cmd == nil {
		return nil
	}
	err := d.cmd.Process.Signal(syscall.SIGQUIT)
	_ = d.cmd.Wait() // it does not end cleanly, as intended
	d.cmd = nil
	return err
}

// pause waits, or returns the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
