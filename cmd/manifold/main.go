// Command manifold is the server and its command line. Only this package reads flags, environment
// variables and settings files.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker at release time.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once; the next start resumes the remaining work
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli{connection: connection{getenv: getenv}, stdin: stdin, out: printer{stdout}, errs: printer{stderr}}
	root := c.root() //nolint:contextcheck // commands get the context from ExecuteContext
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return c.exit(root.ExecuteContext(ctx))
}
