package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/journal"
	"github.com/manifold-run/manifold/reasoning"
)

// modelOptions says which model is asked where. The environment gives what no
// flag does, so that a server and "manifold model check" agree.
type modelOptions struct {
	Engine      string        `json:"engine,omitempty"`
	Model       string        `json:"model,omitempty"`
	Small       string        `json:"small_model,omitempty"`
	BaseURL     string        `json:"base_url,omitempty"`
	Key         string        `json:"key,omitempty"`
	Temperature string        `json:"temperature,omitempty"`
	Timeout     time.Duration `json:"timeout_ns,omitempty"`
}

func (o *modelOptions) flags(cmd *cobra.Command, getenv func(string) string) {
	flags := cmd.Flags()
	flags.StringVar(&o.Engine, "reasoning-engine", getenv("REASONING_ENGINE"), "openai (any server that speaks its format) or anthropic; empty means no model (REASONING_ENGINE)")
	flags.StringVar(&o.Model, "reasoning-model", getenv("REASONING_MODEL"), "name of the model (REASONING_MODEL)")
	flags.StringVar(&o.Small, "reasoning-small-model", getenv("REASONING_SMALL_MODEL"), "name of a second model for what is short: reading messages, verdicts (REASONING_SMALL_MODEL)")
	flags.StringVar(&o.BaseURL, "reasoning-base-url", getenv("REASONING_BASE_URL"), "address of the model's server, such as http://127.0.0.1:11434/v1; empty means the vendor's (REASONING_BASE_URL)")
	flags.StringVar(&o.Key, "reasoning-key", "env:REASONING_API_KEY", "key of the model's server, as env:NAME or file:PATH")
	flags.StringVar(&o.Temperature, "reasoning-temperature", getenv("REASONING_TEMPERATURE"), "0 to 2; empty means 0.2 (REASONING_TEMPERATURE)")
	flags.DurationVar(&o.Timeout, "reasoning-timeout", reasoning.DefaultTimeout, "bound of one call of a model, retries included")
}

// config reads the key; ok tells whether there is a model at all.
func (o *modelOptions) config(getenv func(string) string) (c app.ModelConfig, ok bool, err error) {
	if o.Engine == "" {
		if o.Model != "" || o.BaseURL != "" {
			return c, false, usagef("a model needs --reasoning-engine (or REASONING_ENGINE): openai or anthropic")
		}
		return c, false, nil
	}
	if o.Model == "" {
		return c, false, usagef("--reasoning-engine needs --reasoning-model (or REASONING_MODEL)")
	}
	c = app.ModelConfig{Engine: app.ModelEngine(o.Engine), Model: o.Model, SmallModel: o.Small, BaseURL: o.BaseURL, Timeout: o.Timeout}
	if o.Temperature != "" {
		t, err := strconv.ParseFloat(o.Temperature, 64)
		if err != nil {
			return c, false, usagef("the temperature must be a number from 0 to 2, not %q", o.Temperature)
		}
		c.Temperature = &t
	}
	c.Key, err = secret(o.Key, getenv)
	return c, err == nil, err
}

// secret reads what env:NAME or file:PATH names. An unset variable is no key:
// servers of one's own often want none.
func secret(from string, getenv func(string) string) (string, error) {
	if name, ok := strings.CutPrefix(from, "env:"); ok {
		return strings.TrimSpace(getenv(name)), nil
	}
	if path, ok := strings.CutPrefix(from, "file:"); ok {
		data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		return strings.TrimSpace(string(data)), err
	}
	return "", usagef("a key must be env:NAME or file:PATH, so that no secret stands on the command line")
}

func modelCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "model", Short: "Look at the model that is configured", Args: exactly(0)}
	cmd.AddCommand(modelCheckCommand(c), modelLogCommand(c))
	return cmd
}

func modelCheckCommand(c *cli) *cobra.Command {
	var o modelOptions
	cmd := &cobra.Command{
		Use: "check", Short: "Call the model once in each way that a server would, and say what works", Args: exactly(0),
		Long: `Calls the model that the flags or the environment name: it reads a message,
gives an object that fits a schema, and gives a verdict. That costs a few hundred
tokens. No server of Manifold is needed. Exits with 1 if something does not work.`,
		Example: `  REASONING_ENGINE=openai REASONING_MODEL=llama3.1 REASONING_BASE_URL=http://127.0.0.1:11434/v1 manifold model check
  REASONING_ENGINE=anthropic REASONING_MODEL=claude-sonnet-4-5 REASONING_API_KEY=… manifold model check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, ok, err := o.config(c.getenv)
			if err != nil {
				return err
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
	o.flags(cmd, c.getenv)
	return cmd
}

func modelLogCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "log FILE", Short: "Show what was sent to models and what came back", Args: exactly(1),
		Long: `Shows the calls that a server kept with --model-log FILE, oldest first, on the
machine where the file is. Addresses, long numbers, keys and passwords were
masked before they were kept.`,
		RunE: func(_ *cobra.Command, args []string) error {
			return journal.Read(args[0], func(e reasoning.Exchange) error { return c.show(e, func() { c.out.printf("%s", e) }) })
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
