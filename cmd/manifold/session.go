package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func sessionsCommand(c *cli) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "sessions", Short: "List my sessions, the newest first", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			sessions, err := server.Sessions(ctx, time.Time{}, limit)
			if err != nil {
				return err
			}
			return c.show(sessions, func() {
				c.out.sessions(sessions)
				c.out.more(len(sessions), limit)
			})
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many, 0 for all")
	cmd.AddCommand(sessionShowCommand(c), sessionSummaryCommand(c), sessionRemoveCommand(c))
	return cmd
}

func (p printer) sessions(sessions []contracts.SessionResponse) {
	if len(sessions) == 0 {
		p.printf("There are no sessions.\n")
		return
	}
	rows := make([][]string, len(sessions))
	for i, s := range sessions {
		rows[i] = []string{s.SessionID, string(s.Status), when(s.CreatedAt), strconv.Itoa(len(s.RunIDs)), s.Name}
	}
	p.table("", []string{"SESSION", "STATUS", "STARTED", "RUNS", "NAME"}, rows)
}

func sessionShowCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show SESSION", Short: "Show the answer of a session, or what it waits for", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			response, err := server.Session(ctx, args[0], client.Opt{})
			if err != nil {
				return err
			}
			return c.conclude(ctx, server, response)
		}),
	}
}

func sessionSummaryCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "summary SESSION", Short: "Write the audit of a session in Markdown", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			summary, err := server.SessionSummary(ctx, args[0])
			if err != nil {
				return err
			}
			return c.show(map[string]string{"summary": summary}, func() { c.out.printf("%s", summary) })
		}),
	}
}

func sessionRemoveCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "remove SESSION", Short: "Delete a session whose runs have all ended", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			return server.DeleteSession(ctx, args[0])
		}),
	}
}
