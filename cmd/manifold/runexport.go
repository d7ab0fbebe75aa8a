package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
)

func runExportCommand(c *cli) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "export RUN", Short: "Write a run as one HTML file for an audit", Args: exactly(1),
		Long: `Writes all that is recorded of a run into one HTML file, which loads nothing and
needs no server: what was asked, done, decided and by whom, what it took, and the
ledger with its hashes. With --json it writes the same as JSON.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			run, err := exported(ctx, server, args[0])
			if err != nil {
				return err
			}
			if c.asJSON || file == "-" {
				return c.show(run, func() { err = report.WriteHTML(c.out.w, run) })
			}
			if file == "" {
				file = "manifold-" + run.View.RunID + ".html"
			}
			out, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the file that the caller names
			if err != nil {
				return err
			}
			if err := report.WriteHTML(out, run); err != nil {
				_ = out.Close()
				return err
			}
			c.out.printf("%s\n", file)
			return out.Close()
		}),
	}
	cmd.Flags().StringVarP(&file, "out", "o", "", "file to write, - for the output [manifold-RUN.html]")
	return cmd
}

// exported reads all records of a run.
func exported(ctx context.Context, server *client.Client, id string) (report.AuditedRun, error) {
	run := report.AuditedRun{At: time.Now()}
	var err error
	if run.View, err = server.Run(ctx, id, client.Opt{}); err != nil {
		return run, err
	}
	if run.Figures, err = client.RunMetrics(ctx, server, run.View.RunID); err != nil {
		return run, err
	}
	if run.Gates, err = server.Gates(ctx, client.GatesFilter{RunID: run.View.RunID}); err != nil {
		return run, err
	}
	run.Ledger, err = server.Ledger(ctx, run.View.RunID)
	return run, err
}
