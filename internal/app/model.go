package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/manifold-run/manifold/internal/model"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// ModelEngine is the wire format of a model server.
type ModelEngine string

// The engines.
const (
	EngineOpenAI    ModelEngine = "openai"
	EngineAnthropic ModelEngine = "anthropic"
)

// ModelConfig configures the models. The server works without any.
type ModelConfig struct {
	Engine ModelEngine
	// Model is required. SmallModel, if set, is used for short tasks.
	Model, SmallModel string
	// BaseURL is the URL of the server; empty means the vendor's.
	BaseURL string
	Key     string
	// Temperature is between 0 and 2; nil means reasoning.DefaultTemperature.
	Temperature *float64
	// Timeout is the time limit of a call; 0 means reasoning.DefaultTimeout.
	Timeout time.Duration
	// Journal records requests and responses; nil for none.
	Journal reasoning.Journal
	Logger  *slog.Logger
	// HTTP makes the requests [the client of the vendor's library]. Around wraps each engine
	// [none].
	HTTP   *http.Client
	Around func(e reasoning.Engine, provider string) reasoning.Engine
}

// NewModel returns the model of a configuration.
func NewModel(c ModelConfig) (*reasoning.Model, error) {
	large, err := engine(c, c.Model)
	if err != nil {
		return nil, err
	}
	out := reasoning.Config{Large: large, Temperature: c.Temperature, Timeout: c.Timeout, Journal: c.Journal, Log: c.Logger}
	if c.SmallModel != "" {
		if out.Small, err = engine(c, c.SmallModel); err != nil {
			return nil, err
		}
	}
	return reasoning.New(out)
}

func engine(c ModelConfig, model string) (reasoning.Engine, error) {
	e, err := vendor(c, model)
	if err != nil || c.Around == nil {
		return e, err
	}
	return c.Around(e, string(c.Engine)), nil
}

func vendor(c ModelConfig, name string) (reasoning.Engine, error) {
	switch c.Engine {
	case EngineOpenAI:
		return model.NewOpenAI(model.OpenAIConfig{Model: name, BaseURL: c.BaseURL, Key: c.Key, HTTP: c.HTTP})
	case EngineAnthropic:
		return model.NewAnthropic(model.AnthropicConfig{Model: name, BaseURL: c.BaseURL, Key: c.Key, HTTP: c.HTTP})
	default:
		return nil, fmt.Errorf("the engine of a model must be %s or %s, not %q", EngineOpenAI, EngineAnthropic, c.Engine)
	}
}
