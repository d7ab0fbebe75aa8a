package main

import (
	"context"
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
