package main

import (
	"cmp"
	"context"
	_ "embed" // for the script
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// script holds the scripted model's answers; it answers everything else without a call.
//
//go:embed script.json
var script []byte

// declines refuses every request. So the local reading is used as without a model, and steps use their
// fallbacks. An answer without calls would count as the model's reading.
type declines struct{}

// Answer refuses the request.
func (declines) Answer(scripted.Asked) scripted.Answer {
	return scripted.Answer{Text: "There is no script for this.", Fault: scripted.FaultRefusal}
}

// modelScripted is the built-in model of the demo, which costs nothing.
const modelScripted = "scripted"

// fromEnvironment returns the model that the variables of "manifold serve" name, if any.
func fromEnvironment(getenv func(string) string) (app.LanguageModel, error) {
	engine, model := getenv("REASONING_ENGINE"), getenv("REASONING_MODEL")
	switch {
	case engine == "" && model == "":
		return app.LanguageModel{}, nil
	case engine == "" || model == "":
		return app.LanguageModel{}, errors.New("a model needs both REASONING_ENGINE (openai or anthropic) and REASONING_MODEL; see docs/models.md")
	}
	return app.LanguageModel{Answers: true, Model: app.ModelConfig{
		Engine: app.ModelEngine(engine), Model: model, SmallModel: getenv("REASONING_SMALL_MODEL"),
		BaseURL: getenv("REASONING_BASE_URL"), Key: getenv("REASONING_API_KEY"),
	}}, nil
}

// mind starts the requested model, if any, and returns a function that stops it. With a URL, the model
// is served there; without a name, the environment may name one.
func mind(ctx context.Context, name, url string) (app.LanguageModel, func() error, error) {
	none := func() error { return nil }
	if url != "" {
		return app.LanguageModel{Answers: true, Model: app.ModelConfig{Engine: app.EngineOpenAI, Model: cmp.Or(name, modelScripted), BaseURL: url}}, none, nil
	}
	if name == "" {
		m, err := fromEnvironment(os.Getenv)
		return m, none, err
	}
	if name != modelScripted {
		return app.LanguageModel{}, none, fmt.Errorf("the demo knows the model %s, not %q; a real one is for \"manifold serve\", see docs/models.md", modelScripted, name)
	}
	answers, err := scripted.ParseScript(script)
	if err != nil {
		return app.LanguageModel{}, none, err
	}
	answers.Else = declines{}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return app.LanguageModel{}, none, err
	}
	server := &http.Server{Handler: scripted.New(answers), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	stop := func() error {
		err := server.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
	return app.LanguageModel{Answers: true, Model: app.ModelConfig{Engine: app.EngineOpenAI, Model: modelScripted, BaseURL: "http://" + listener.Addr().String() + "/v1"}}, stop, nil
}
