package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func locksCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "locks", Short: "List the resource keys that are held", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			locks, err := server.Locks(ctx)
			if err != nil {
				return err
			}
			return c.show(locks, func() { c.out.locks(locks) })
		}),
	}
	cmd.AddCommand(&cobra.Command{
		Use: "break KEY", Short: "Free a key by force", Args: exactly(1),
		Long: `Frees a key that a crash or an unknown outcome keeps. Make sure first that the
write behind it is not under way any more.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			lock, err := server.BreakLock(ctx, args[0])
			if err != nil {
				return err
			}
			return c.show(lock, func() { c.out.printf("%s is free; %s of %s held it\n", lock.Key, lock.NodeID, lock.RunID) })
		}),
	})
	return cmd
}

func (p printer) locks(locks []contracts.LockView) {
	if len(locks) == 0 {
		p.printf("No lock is held.\n")
		return
	}
	rows := make([][]string, len(locks))
	for i, l := range locks {
		rows[i] = []string{l.Key, l.RunID, l.NodeID, when(l.Since), strings.Join(l.Waiting, " ")}
	}
	p.table("", []string{"KEY", "RUN", "NODE", "SINCE", "WAITING"}, rows)
}

func auditCommand(c *cli) *cobra.Command {
	return group("audit", "Check what is recorded", &cobra.Command{
		Use: "verify [RUN]", Short: "Check the hash chain of a run, or of all", Args: counted(cobra.MaximumNArgs(1)),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			run := strings.Join(args, "")
			report, err := server.AuditVerify(ctx, run)
			if err != nil {
				return err
			}
			err = c.show(report, func() {
				c.out.printf("%s runs, %s entries\n", strconv.Itoa(report.Runs), strconv.Itoa(report.Entries))
				for _, f := range report.Faults {
					c.out.printf("  ! %s: %s\n", f.RunID, oneLine(f.Message))
				}
			})
			if err == nil && !report.OK {
				return ended(exitFailed)
			}
			return err
		}),
	})
}
