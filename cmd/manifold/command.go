package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// The exit codes; "manifold --help" lists them.
const (
	exitOK = iota
	exitError
	exitUsage
	exitWaiting
	exitFailed
	exitNotFound
)

const about = `Manifold turns sentences into approved, verified actions of the domains that
are registered with it.

The server and the key are taken from --server and --key, else from the
environment (MANIFOLD_URL, MANIFOLD_KEY), else from the file that a server on
this machine wrote (--config, MANIFOLD_CONFIG).

Exit codes: 0 done, 1 error, 2 wrong usage, 3 waiting for a person,
4 the run failed, was rejected or cancelled, 5 there is no such thing.`

// cli is shared by all commands: the connection to the server and the output. The flags are set
// before a command runs, and do not change after that.
type cli struct {
	connection

	stdin  io.Reader
	out    printer
	errs   printer
	asJSON bool
}

// ended is an exit code without a message.
type ended int

// Error implements error; it is never shown.
func (e ended) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usageError is an invalid command line.
type usageError struct{ err error }

// Error returns the error in the command line.
func (e usageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use: "manifold", Short: "From a sentence to an approved, verified action", Long: about,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q; see manifold --help", args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&c.server, "server", "", "address of the server, such as http://127.0.0.1:8080")
	flags.StringVar(&c.key, "key", "", "API key; better in MANIFOLD_KEY, where other users of this machine do not see it")
	flags.StringVar(&c.config, "config", "", "file with the address and the key of a server on this machine")
	flags.BoolVar(&c.asJSON, "json", false, "write JSON, as the API gives it")
	root.AddCommand(
		serveCommand(c), askCommand(c), planCommand(c), runsCommand(c), runCommand(c), statsCommand(c), watchCommand(c), sessionsCommand(c),
		gatesCommand(c), approveCommand(c), rejectCommand(c), answerCommand(c), settleCommand(c),
		locksCommand(c), domainCommand(c), evalCommand(c), keyCommand(c), auditCommand(c), versionCommand(c),
		embeddingsCommand(c), modelCommand(c), mcpCommand(c), bridgeCommand(c), openCommand(c),
	)
	return root
}

// exit prints an error and returns its exit code.
func (c *cli) exit(err error) int {
	if err == nil {
		return exitOK
	}
	if code, ok := errors.AsType[ended](err); ok {
		return int(code)
	}
	c.errs.printf("manifold: %s\n", describe(err))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return exitNotFound
	}
	return exitError
}

// describe returns an error's message with its faults, one per line.
func describe(err error) string {
	e, ok := errors.AsType[*contracts.Error](err)
	if !ok {
		return err.Error()
	}
	lines := []string{e.Message}
	for _, f := range e.Faults {
		lines = append(lines, f.Pointer+": "+f.Message)
	}
	if e.Code == contracts.CodeUnauthorized {
		lines = append(lines, "set MANIFOLD_KEY to a valid key")
	}
	return strings.Join(lines, "\n  ")
}

// show prints v as JSON if --json is set, otherwise it calls text.
func (c *cli) show(v any, text func()) error {
	if !c.asJSON {
		text()
		return nil
	}
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = c.out.w.Write(append(body, '\n'))
	return err
}

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// connected returns a command function that connects to the server first.
func (c *cli) connected(do func(ctx context.Context, server *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		server, err := c.client()
		if err != nil {
			return err
		}
		return do(cmd.Context(), server, args)
	}
}

// exactly requires n arguments; its error shows the usage.
func exactly(n int) cobra.PositionalArgs { return counted(cobra.ExactArgs(n)) }

func counted(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// group returns a command that only has subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q; see %s --help", args[0], cmd.CommandPath())
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

func versionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			return c.show(map[string]string{"version": version}, func() { c.out.printf("manifold %s\n", version) })
		},
	}
}
