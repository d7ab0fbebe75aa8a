package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/model"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// JudgeMode specifies when a model is asked for an opinion of a verdict.
type JudgeMode = execution.JudgeMode

// The ways to judge that decide what a site needs.
const (
	JudgeSteps = execution.JudgeSteps
	JudgeRuns  = execution.JudgeRuns
)

// JudgeModes lists the ways to judge.
func JudgeModes() []JudgeMode { return execution.JudgeModes() }

// Understanding says who reads messages.
type Understanding string

// The ways to read messages.
const (
	UnderstandLocal Understanding = "local"
	UnderstandModel Understanding = "model"
)

// Understandings lists them, for flags and their help.
func Understandings() []Understanding { return []Understanding{UnderstandLocal, UnderstandModel} }

// LateWrites describes what becomes of writes that a model proposes after it has read
// answers of domains.
type LateWrites = execution.LateWrites

// LateWritesAsk has each of them approved.
const LateWritesAsk = execution.LateWritesAsk

// LateWritesChoices lists what may become of them.
func LateWritesChoices() []LateWrites { return execution.LateWritesChoices() }

// LanguageModel specifies which model serves, and for what.
type LanguageModel struct {
	// Model is asked; without an engine there is none, and the rest says nothing.
	Model ModelConfig
	// Understanding says who reads messages [the model, where there is one].
	Understanding Understanding
	// JudgeMode specifies when it is asked for an opinion of verdicts [steps].
	JudgeMode execution.JudgeMode
	// Answers means that it words what runs found.
	Answers bool
	// NoGeneralAnswers keeps it from answering general questions in its own words.
	NoGeneralAnswers bool
	// LateWrites describes what becomes of writes that it proposes after reading [ask].
	LateWrites LateWrites
	// Log is a file that keeps what is sent and what comes back, masked; empty keeps
	// nothing.
	Log string
}

// wireModel makes the model, if one is named.
func (a *App) wireModel() error {
	m := a.cfg.Mind
	if m.Model.Engine == "" {
		a.modelSummary = "Models: none; see docs/models.md"
		return nil
	}
	m.Model.Logger = a.cfg.Logger
	a.modelSummary = fmt.Sprintf("Models: %s (messages are read by: %s), thinks for steps and judges (%s)", m.Model.Model, cmp.Or(m.Understanding, UnderstandModel), cmp.Or(m.JudgeMode, execution.JudgeSteps))
	if m.Answers {
		a.modelSummary += "; it words answers"
	}
	if m.Log != "" {
		file, err := model.OpenJournal(m.Log)
		if err != nil {
			return err
		}
		m.Model.Journal = file
		a.cleanups = append(a.cleanups, cleanup{"journal of model calls", func(context.Context) error { return file.Close() }})
		a.modelSummary += "; what is sent is kept in " + m.Log
	}
	traceModel(a.telemetry, &m.Model)
	model, err := NewModel(m.Model)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	a.model = model
	return nil
}

// languageModel lets a model think for the steps of runs.
type languageModel struct{ model *reasoning.Model }

var _ execution.LanguageModel = languageModel{}

// NewLanguageModel makes a mind of a model; nil of none.
func NewLanguageModel(model *reasoning.Model) execution.LanguageModel {
	if model == nil {
		return nil
	}
	return languageModel{model}
}

// task converts a thought of a run to a task of package reasoning.
func task(t execution.ModelRequest) (out reasoning.Task, err error) {
	switch t.Purpose {
	case contracts.PurposeJudge:
		out, err = reasoning.Case{Skill: t.Skill, Inputs: t.Inputs}.Task()
	case contracts.PurposeAnswer:
		out = reasoning.Wording{Inputs: t.Inputs}.Task()
		out.Output, err = compiled(t.Output)
	default:
		out = reasoning.Task{
			Skill: t.Skill, Inputs: t.Inputs, Size: reasoning.Size(t.Size), MaxOutputTokens: t.MaxOutputTokens, TokensLeft: reasoning.NoBudget,
		}
		out.Output, err = compiled(t.Output)
	}
	if t.Rejected != nil {
		out.Wrong = &reasoning.RejectedAnswer{Answer: t.Rejected.Answer, Faults: t.Rejected.Faults}
	}
	return out, err
}

func compiled(schema map[string]any) (*contracts.Schema, error) {
	raw, err := contracts.Canonical(schema)
	if err != nil {
		return nil, err
	}
	return contracts.CompileSchema(raw)
}

// EstimateTokens is 0 for what cannot be asked: asking says why.
func (languageModel) EstimateTokens(t execution.ModelRequest) int {
	out, err := task(t)
	if err != nil {
		return 0
	}
	needs, err := out.Needs()
	if err != nil {
		return 0
	}
	return needs
}

// Complete asks the model once.
func (m languageModel) Complete(ctx context.Context, t execution.ModelRequest) execution.ModelResponse {
	asked, err := task(t)
	if err != nil {
		return execution.ModelResponse{Fault: err.Error()}
	}
	got, err := m.model.Attempt(ctx, asked)
	out := execution.ModelResponse{Calls: got.Calls}
	switch {
	case err != nil:
		out.Fault = err.Error()
	case got.Wrong != nil:
		out.Rejected = &execution.RejectedAnswer{Answer: got.Wrong.Answer, Faults: got.Wrong.Faults}
	case t.Purpose == contracts.PurposeJudge:
		opinion := reasoning.OpinionOf(got.Facts)
		out.Opinion = &opinion
	default:
		out.Facts = got.Facts
	}
	return out
}
