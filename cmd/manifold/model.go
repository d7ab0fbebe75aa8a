package main

import (
	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/options"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model"
	"github.com/manifold-run/manifold/internal/reasoning"
)

func modelCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "model", Short: "Look at the model that is configured", Args: exactly(0)}
	cmd.AddCommand(modelCheckCommand(c), modelLogCommand(c))
	return cmd
}

func modelCheckCommand(c *cli) *cobra.Command {
	var o options.ModelChoice
	cmd := &cobra.Command{
		Use: "check", Short: "Call the model once in each way that a server would, and say what works", Args: exactly(0),
		Long: `Calls the model that the flags or the environment name: it reads a message,
gives an object that fits a schema, and gives a verdict. That costs a few hundred
tokens. No server of Manifold is needed. Exits with 1 if something does not work.`,
		Example: `  REASONING_ENGINE=openai REASONING_MODEL=llama3.1 REASONING_BASE_URL=http://127.0.0.1:11434/v1 manifold model check
  REASONING_ENGINE=anthropic REASONING_MODEL=claude-sonnet-4-5 REASONING_API_KEY=… manifold model check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, ok, err := o.Config(c.getenv)
			if err != nil {
				return usageError{err}
			}
			if !ok {
				return usagef("no model is configured: set REASONING_ENGINE and REASONING_MODEL, see manifold model check --help")
			}
			model, err := app.NewModel(config)
			if err != nil {
				return usageError{err}
			}
			return showProbes(c, model.Check(cmd.Context()))
		},
	}
	o.Flags(cmd, c.getenv)
	return cmd
}

func modelLogCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "log FILE", Short: "Show what was sent to models and what came back", Args: exactly(1),
		Long: `Shows the calls that a server kept with --model-log FILE, oldest first, on the
machine where the file is. Addresses, long numbers, keys and passwords were
masked before they were kept.`,
		RunE: func(_ *cobra.Command, args []string) error {
			return model.ReadJournal(args[0], func(e reasoning.Exchange) error { return c.show(e, func() { c.out.printf("%s", e) }) })
		},
	}
}

func showProbes(c *cli, probes []reasoning.Probe) error {
	worked := true
	for _, p := range probes {
		worked = worked && p.OK()
	}
	err := c.show(probes, func() {
		for _, p := range probes {
			c.out.printf("%s", p)
		}
	})
	if err == nil && !worked {
		return ended(exitFailed)
	}
	return err
}
