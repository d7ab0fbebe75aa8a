package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
	"github.com/manifold-run/manifold/contracts"
)

func runsCommand(c *cli) *cobra.Command {
	var f client.RunsFilter
	var state string
	cmd := &cobra.Command{
		Use: "runs", Short: "List runs, the newest first", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			f.State, f.Timing = contracts.RunState(state), true
			runs, err := server.Runs(ctx, f)
			if err != nil {
				return err
			}
			return c.show(runs, func() {
				c.out.runs(runs)
				c.out.more(len(runs), f.Limit)
			})
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.SessionID, "session", "", "only of this session")
	flags.StringVar(&state, "state", "", "only in this state, such as waiting or failed")
	flags.IntVar(&f.Limit, "limit", 20, "how many, 0 for all")
	flags.BoolVar(&f.Held, "held", false, "only those that are in quarantine after a restore")
	flags.Float64Var(&f.ScoreBelow, "score-below", 0, "only those that ended with a lower outcome score, 0 to 1")
	flags.BoolVar(&f.Everybody, "all", false, "everybody's, not only mine")
	return cmd
}

func runCommand(c *cli) *cobra.Command {
	return group("run", "Show, cancel, replay, undo or export a run", runShowCommand(c), runStateCommand(c), runCancelCommand(c), runReleaseCommand(c), runReplayCommand(c), runCompensateCommand(c), runLedgerCommand(c), runExportCommand(c))
}

func runShowCommand(c *cli) *cobra.Command {
	var watch, timing bool
	cmd := &cobra.Command{
		Use: "show [RUN]", Short: "Show a run, without RUN my newest one", Args: counted(cobra.MaximumNArgs(1)),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			id, err := runID(ctx, server, args)
			if err != nil {
				return err
			}
			view, err := c.watch(ctx, server, id, watch)
			if err != nil {
				return err
			}
			if timing {
				f, err := client.RunMetrics(ctx, server, id)
				if err != nil {
					return err
				}
				return c.show(f, func() { report.Run(c.out.w, f) })
			}
			if err := c.show(view, func() { c.out.run(view) }); err != nil {
				return err
			}
			return stateCode(view.State)
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "wait until it has ended, showing what happens")
	cmd.Flags().BoolVar(&timing, "timing", false, "show what took how long, what was called, and the counters that must be 0")
	return cmd
}

func runStateCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "state [RUN]", Short: "Show what a run knows by domain: facts, artifacts, and what its calls took", Args: counted(cobra.MaximumNArgs(1)),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			id, err := runID(ctx, server, args)
			if err != nil {
				return err
			}
			state, err := client.RunByDomain(ctx, server, id)
			if err != nil {
				return err
			}
			return c.show(state, func() { c.out.state(state) })
		}),
	}
}

// runID returns the named run, or else the caller's newest one.
func runID(ctx context.Context, server *client.Client, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	runs, err := server.Runs(ctx, client.RunsFilter{Limit: 1})
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "", contracts.Errorf(contracts.CodeNotFound, "you have no runs yet")
	}
	return runs[0].RunID, nil
}

// watch returns a run, after showing its events until it ends if watch is set.
func (c *cli) watch(ctx context.Context, server *client.Client, id string, watch bool) (contracts.RunView, error) {
	if watch {
		for e, err := range server.StreamRun(ctx, id, 0) {
			if err != nil {
				return contracts.RunView{}, err
			}
			if !c.asJSON {
				c.errs.event(e)
			}
		}
	}
	return server.Run(ctx, id, client.Opt{})
}

// watchCommand prints events as they happen.
func watchCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "watch SESSION|RUN", Short: "Show what happens in a session or a run, as it happens", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			events := server.StreamRun(ctx, args[0], 0)
			if strings.HasPrefix(args[0], "ses_") {
				events = server.Stream(ctx, args[0], 0)
			}
			for e, err := range events {
				if err != nil {
					return err
				}
				if err := c.show(e, func() { c.out.event(e) }); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func runCancelCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "Ask for a run to end; what was done stays done", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			view, err := server.CancelRun(ctx, args[0])
			if err != nil {
				return err
			}
			return c.show(view, func() { c.out.run(view) })
		}),
	}
}

func runReleaseCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "release RUN", Short: "Let a run go on that is in quarantine after a restore", Args: exactly(1),
		Long: `Let a run go on that "serve --quarantine" found open in a restored database.

What the run did after the backup is not in it. Look at its writes that are still to be done (manifold run show RUN) and at the systems: if one was done
already, cancel the run instead.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			view, err := server.ReleaseRun(ctx, args[0])
			if err != nil {
				return err
			}
			return c.show(view, func() { c.out.run(view) })
		}),
	}
}

func runReplayCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "replay RUN", Short: "Play a run again from its ledger, without calling any domain", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			r, err := server.Replay(ctx, args[0])
			if err != nil {
				return err
			}
			err = c.show(r, func() {
				c.out.printf("%s: %d ledger entries lead to %s\n", r.RunID, r.Entries, r.State)
				for _, d := range r.Differences {
					c.out.printf("  ! %s\n", oneLine(d))
				}
			})
			if err == nil && len(r.Differences) > 0 {
				return ended(exitFailed)
			}
			return err
		}),
	}
}

func runCompensateCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "compensate RUN [NODE]", Short: "Undo one write of a run, or all of an ended one, the last first", Args: counted(cobra.RangeArgs(1, 2)),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			view, err := server.Run(ctx, args[0], client.Opt{})
			if err != nil {
				return err
			}
			from, err := c.lastEvent(ctx, server, view.SessionID)
			if err != nil {
				return err
			}
			response, err := server.Compensate(ctx, args[0], strings.Join(args[1:], ""), client.Opt{})
			if err != nil {
				return err
			}
			return c.follow(ctx, server, response, from)
		}),
	}
}

func runLedgerCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "ledger RUN", Short: "Show the hash chain of a run", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			entries, err := server.Ledger(ctx, args[0])
			if err != nil {
				return err
			}
			return c.show(entries, func() { c.out.ledger(entries) })
		}),
	}
}
