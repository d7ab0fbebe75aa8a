// Package options implements flags that several commands share: the model, the embeddings, and the
// confidence thresholds. It also installs the sentence encoder that such a flag may name.
package options

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// ModelChoice selects a model and its server. The environment supplies what no flag sets, so that a
// server and "manifold model check" agree.
type ModelChoice struct {
	Engine      string        `json:"engine,omitempty"`
	Model       string        `json:"model,omitempty"`
	Small       string        `json:"small_model,omitempty"`
	BaseURL     string        `json:"base_url,omitempty"`
	Key         string        `json:"key,omitempty"`
	Temperature string        `json:"temperature,omitempty"`
	Timeout     time.Duration `json:"timeout_ns,omitempty"`
}

// Mind configures a server's use of the model.
type Mind struct {
	ModelChoice

	Understanding string `json:"understanding,omitempty"`
	Judge         string `json:"judge,omitempty"`
	Answers       string `json:"answers,omitempty"`
	Log           string `json:"model_log,omitempty"`
	LateWrites    string `json:"late_writes,omitempty"`
	General       string `json:"general_answers,omitempty"`
}

// The values of --answers and --general-answers.
const (
	answersOn  = "on"
	answersOff = "off"
)

// Flags adds the flags of a server.
func (o *Mind) Flags(cmd *cobra.Command, getenv func(string) string) {
	o.ModelChoice.Flags(cmd, getenv)
	flags := cmd.Flags()
	flags.StringVar(&o.Understanding, "understanding", "", "who reads messages: model (the local reader where it gives no answer) or local; empty means model if there is one")
	flags.StringVar(&o.Judge, "judge", string(app.JudgeSteps), "when the model gives an opinion of verdicts, which can only lower them: off, steps (where a step asks for it) or runs (at the end of every run besides)")
	flags.StringVar(&o.Answers, "answers", cmp.Or(getenv("REASONING_ANSWERS"), answersOn), "whether the model words what was found, above the tables: on or off; each sentence is checked against the facts before it is shown (REASONING_ANSWERS)")
	flags.StringVar(&o.General, "general-answers", answersOn, "whether the model answers general questions and small talk in its own words, marked so, with nothing called: on or off")
	flags.StringVar(&o.LateWrites, "late-writes", string(app.LateWritesAsk), "what becomes of writes that a model proposes after it has read answers of domains: ask (each has a gate) or forbid")
	flags.StringVar(&o.Log, "model-log", "", "file that keeps what is sent to models and what comes back, masked; see \"manifold model log\"")
}

// Config returns the server's configuration. An error is a usage error.
func (o *Mind) Config(getenv func(string) string) (app.LanguageModel, error) {
	model, ok, err := o.ModelChoice.Config(getenv)
	if err != nil {
		return app.LanguageModel{}, err
	}
	out := app.LanguageModel{
		Model: model, Understanding: app.Understanding(o.Understanding), JudgeMode: app.JudgeMode(o.Judge), Answers: o.Answers == answersOn, Log: o.Log,
		LateWrites: app.LateWrites(o.LateWrites), NoGeneralAnswers: o.General == answersOff,
	}
	switch {
	case o.Understanding != "" && !slices.Contains(app.Understandings(), out.Understanding):
		return out, fmt.Errorf("--understanding must be one of %v, not %q", app.Understandings(), o.Understanding)
	case !slices.Contains(app.JudgeModes(), out.JudgeMode):
		return out, fmt.Errorf("--judge must be one of %v, not %q", app.JudgeModes(), o.Judge)
	case o.Answers != "" && o.Answers != answersOn && o.Answers != answersOff:
		return out, fmt.Errorf("--answers must be %s or %s, not %q", answersOn, answersOff, o.Answers)
	case o.General != "" && o.General != answersOn && o.General != answersOff:
		return out, fmt.Errorf("--general-answers must be %s or %s, not %q", answersOn, answersOff, o.General)
	case !slices.Contains(app.LateWritesChoices(), out.LateWrites):
		return out, fmt.Errorf("--late-writes must be one of %v, not %q", app.LateWritesChoices(), o.LateWrites)
	case !ok && out.Understanding != "" && out.Understanding != app.UnderstandLocal:
		return out, fmt.Errorf("--understanding %s needs a model: set --reasoning-engine and --reasoning-model", o.Understanding)
	case !ok && out.JudgeMode == app.JudgeRuns:
		return out, fmt.Errorf("--judge runs needs a model: set --reasoning-engine and --reasoning-model")
	}
	return out, nil
}

// Flags adds the flags of a command that uses models.
func (o *ModelChoice) Flags(cmd *cobra.Command, getenv func(string) string) {
	flags := cmd.Flags()
	flags.StringVar(&o.Engine, "reasoning-engine", getenv("REASONING_ENGINE"), "openai (any server that speaks its format) or anthropic; empty means no model (REASONING_ENGINE)")
	flags.StringVar(&o.Model, "reasoning-model", getenv("REASONING_MODEL"), "name of the model (REASONING_MODEL)")
	flags.StringVar(&o.Small, "reasoning-small-model", getenv("REASONING_SMALL_MODEL"), "name of a second model for what is short: reading messages, verdicts (REASONING_SMALL_MODEL)")
	flags.StringVar(&o.BaseURL, "reasoning-base-url", getenv("REASONING_BASE_URL"), "address of the model's server, such as http://127.0.0.1:11434/v1; empty means the vendor's (REASONING_BASE_URL)")
	flags.StringVar(&o.Key, "reasoning-key", "env:REASONING_API_KEY", "key of the model's server, as env:NAME or file:PATH")
	flags.StringVar(&o.Temperature, "reasoning-temperature", getenv("REASONING_TEMPERATURE"), "0 to 2; empty means 0.2 (REASONING_TEMPERATURE)")
	flags.DurationVar(&o.Timeout, "reasoning-timeout", reasoning.DefaultTimeout, "bound of one call of a model, retries included")
}

// Config reads the key and returns the configuration; ok is false if no model is configured.
func (o *ModelChoice) Config(getenv func(string) string) (c app.ModelConfig, ok bool, err error) {
	if o.Engine == "" {
		if o.Model != "" || o.BaseURL != "" {
			return c, false, fmt.Errorf("a model needs --reasoning-engine (or REASONING_ENGINE): openai or anthropic")
		}
		return c, false, nil
	}
	if o.Model == "" {
		return c, false, fmt.Errorf("--reasoning-engine needs --reasoning-model (or REASONING_MODEL)")
	}
	c = app.ModelConfig{Engine: app.ModelEngine(o.Engine), Model: o.Model, SmallModel: o.Small, BaseURL: o.BaseURL, Timeout: o.Timeout}
	if o.Temperature != "" {
		t, err := strconv.ParseFloat(o.Temperature, 64)
		if err != nil {
			return c, false, fmt.Errorf("the temperature must be a number from 0 to 2, not %q", o.Temperature)
		}
		c.Temperature = &t
	}
	c.Key, err = secret(o.Key, getenv)
	return c, err == nil, err
}

// secret returns the value of env:NAME or file:PATH. An unset variable means no key: self-hosted
// servers often need none.
func secret(from string, getenv func(string) string) (string, error) {
	if name, ok := strings.CutPrefix(from, "env:"); ok {
		return strings.TrimSpace(getenv(name)), nil
	}
	if path, ok := strings.CutPrefix(from, "file:"); ok {
		data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		return strings.TrimSpace(string(data)), err
	}
	return "", fmt.Errorf("a key must be env:NAME or file:PATH, so that no secret stands on the command line")
}
