package main

import (
	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/conversations"
)

func evalConversationsCommand(c *cli) *cobra.Command {
	var f conversations.Flags
	cmd := f.Command()
	cmd.Args = exactly(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.Check(args[0], c.server, c.key, c.getenv); err != nil {
			return usageError{err}
		}
		report, reached, err := f.Play(cmd.Context(), c.out.w, c.errs.w, c.asJSON)
		if err != nil {
			return err
		}
		if err := c.show(report, func() { c.out.printf("%s", report.Text()) }); err != nil || reached {
			return err
		}
		return ended(exitError)
	}
	return cmd
}
