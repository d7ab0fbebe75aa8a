package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/authoring"
)

func domainNewCommand(c *cli) *cobra.Command {
	var language, dir string
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Write the beginning of a domain service", Args: exactly(1),
		Long: `Writes a small service that works and keeps the contract: a manifest, and a
program that serves it, without dependencies. It has a read and a write that is
done once for each key, is looked up, read back and can be undone.`,
		Example: `  manifold domain new helpdesk --language python
  manifold domain new helpdesk --language go --dir services/helpdesk`,
		RunE: func(_ *cobra.Command, args []string) error {
			where := cmp.Or(dir, args[0])
			written, err := authoring.Scaffold(where, args[0], language)
			if err != nil {
				return err
			}
			return c.show(map[string]any{"dir": where, "files": written}, func() {
				c.out.printf("%s: %s\nGo on with %s/README.md\n", where, strings.Join(written, ", "), where)
			})
		},
	}
	cmd.Flags().StringVar(&language, "language", "python", strings.Join(authoring.Languages(), ", "))
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to, the name if left out")
	return cmd
}
