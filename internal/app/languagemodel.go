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

// JudgeMode specifies when a model is asked for its opinion of a verdict.
type JudgeMode = execution.JudgeMode

// The judge modes.
const (
	JudgeSteps = execution.JudgeSteps
	JudgeRuns  = execution.JudgeRuns
)

// JudgeModes returns all judge modes.
func JudgeModes() []JudgeMode { return execution.JudgeModes() }

// Understanding specifies whether the local matcher or the model reads messages.
type Understanding string

// The values of Understanding.
const (
	UnderstandLocal Understanding = "local"
	UnderstandModel Understanding = "model"
)

// Understandings returns all values, for flags and their help.
func Understandings() []Understanding { return []Understanding{UnderstandLocal, UnderstandModel} }

// LateWrites specifies what happens with writes that a model proposes after it has read domain
// answers.
type LateWrites = execution.LateWrites

// LateWritesAsk requires an approval of each.
const LateWritesAsk = execution.LateWritesAsk

// LateWritesChoices returns all values of LateWrites.
func LateWritesChoices() []LateWrites { return execution.LateWritesChoices() }

// LanguageModel configures the model and its uses.
type LanguageModel struct {
	// Model is the model. Without an engine there is none, and the other fields are ignored.
	Model ModelConfig
	// Understanding specifies how messages are read [by the model, if there is one].
	Understanding Understanding
	// JudgeMode specifies when the model is asked for its opinion of verdicts [steps].
	JudgeMode execution.JudgeMode
	// Answers lets the model word the results of runs.
	Answers bool
	// NoGeneralAnswers prevents answers of the model to general questions.
	NoGeneralAnswers bool
	// LateWrites specifies what happens with writes proposed after reading [ask].
	LateWrites LateWrites
	// Log is the file that records requests and responses, masked; empty for none.
	Log string
}

// wireModel creates the model, if one is configured.
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

// languageModel implements execution.LanguageModel.
type languageModel struct{ model *reasoning.Model }

var _ execution.LanguageModel = languageModel{}

// NewLanguageModel returns the language model for runs, or nil if model is nil.
func NewLanguageModel(model *reasoning.Model) execution.LanguageModel {
	if model == nil {
		return nil
	}
	return languageModel{model}
}

// task converts a model request of a run to a task of package reasoning.
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

// EstimateTokens returns 0 for an invalid request; Complete then returns its error.
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

// Complete calls the model once.
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
