package pgtest

import (
	"bytes"
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
	"testing"
	"time"
)

// folders returns the usual directories of the server programs, besides PATH.
func folders() []string {
	return []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin", "/usr/local/pgsql/bin",
	}
}

// programs returns the directory of the server programs, the newest one if there are several.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	for _, pattern := range folders() {
		found, err := filepath.Glob(filepath.Join(pattern, "initdb"))
		if err == nil && len(found) > 0 {
			return filepath.Dir(slices.Max(found)), nil
		}
	}
	return "", errors.New("there is no PostgreSQL server here: install one (Debian: the package postgresql), or name one in " + envURL)
}

// script runs the server until its standard input ends, which is at the end of the test or when
// the test is killed. It leaves no files behind.
const script = `
set -e
cd "$2"
trap 'rm -rf "$2"' EXIT
"$1/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >initdb.log 2>&1 || { cat initdb.log >&2; exit 1; }
"$1/postgres" -D data -k "$2" -c listen_addresses= -c fsync=off -c max_connections=200 >server.log 2>&1 &
server=$!
while read -r line; do :; done
kill -INT "$server" 2>/dev/null || :
wait "$server" || { cat server.log >&2; exit 1; }
`

// start runs a server that listens on a socket in its own directory, so that ports cannot
// conflict.
func start(t *testing.T, bin string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg-") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // usually the script has removed it
	shell, err := ordinary(dir)
	if err != nil {
		t.Fatalf("PostgreSQL does not run as root: %v", err)
	}
	// The end of its input stops the server, not the context.
	ctx := context.WithoutCancel(t.Context())
	cmd := exec.CommandContext(ctx, shell[0], slices.Concat(shell[1:], []string{"-c", script, "pgtest", bin, dir})...) //nolint:gosec // a fixed script
	var said bytes.Buffer
	cmd.Stderr, cmd.Dir = &said, dir
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	wait, stopWaiting := context.WithTimeout(ctx, time.Minute)
	defer stopWaiting()
	ended := make(chan struct{})
	var failed error
	go func() {
		failed = cmd.Wait()
		stopWaiting() // the server will never accept connections
		close(ended)
	}()
	t.Cleanup(func() {
		_ = input.Close() // the end of the input stops the server
		if <-ended; failed != nil {
			t.Errorf("PostgreSQL: %v: %s", failed, said.String())
		}
	})
	s := &Server{&url.URL{Scheme: "postgres", Path: "/postgres", RawQuery: url.Values{"host": {dir}, "user": {"postgres"}}.Encode()}}
	if err := s.answers(wait); err != nil {
		t.Fatalf("PostgreSQL does not answer: %v", err)
	}
	return s
}

// ordinary returns the command of a shell for a user other than root, and makes that user the
// owner of the directory.
func ordinary(dir string) ([]string, error) {
	if os.Getuid() != 0 {
		return []string{"sh"}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, err
		}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
		return []string{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups", "--", "sh"}, nil
	}
	return nil, fmt.Errorf("there is neither a user postgres nor nobody")
}
