package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
)

func statsCommand(c *cli) *cobra.Command {
	var f client.StatsFilter
	cmd := &cobra.Command{
		Use: "stats", Short: "Sum up runs: times, outcomes, tokens, and counters that must be 0", Args: exactly(0),
		Long: `Sums up the newest runs: how long they took, with the time that people were
waited for apart, how they came out, what they used, by plan and by feature flags.
The counters of safety must be 0; where one is not, the runs are named, and the
exit code is 4. With --session it says why a session was slow.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			stats, err := client.Stats(ctx, server, f)
			if err != nil {
				return err
			}
			err = c.show(stats, func() { report.Stats(c.out.w, stats) })
			if err == nil && stats.Safety.Sum() > 0 {
				return ended(exitFailed)
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.SessionID, "session", "", "only runs of this session")
	flags.StringVar(&f.Domain, "domain", "", "only runs with a step of this domain")
	flags.StringVar(&f.Strategy, "strategy", "", "only runs of this plan, such as workflow:domain.name")
	flags.IntVar(&f.Last, "last", 0, "how many runs to look at, 0 for 200")
	flags.BoolVar(&f.Everybody, "all", false, "everybody's, not only mine")
	return cmd
}
