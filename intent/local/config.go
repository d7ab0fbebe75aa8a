package local

import (
	"cmp"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// The defaults of Config.
const (
	DefaultAccept      = 0.75
	DefaultAcceptWrite = 0.80
	DefaultClarify     = 0.40
	DefaultTieMargin   = 0.04
	DefaultSnapshots   = 4
	DefaultSuggestions = 4
	DefaultOutOfScope  = 0.2
)

// Config holds the confidence gates; zero values mean the defaults. The gates are the same for all
// domains, but catalog entries may raise them.
type Config struct {
	// Accept is the minimum confidence of a read.
	Accept float64
	// AcceptWrite is the minimum confidence of a write; never below Accept.
	AcceptWrite float64
	// Clarify is the minimum confidence for a question; below it the message is declined.
	Clarify float64
	// TieMargin is the maximum distance of two candidates that leads to a question.
	TieMargin float64
	// Suggestions is the number of choices that a question or a decline offers.
	Suggestions int
	// OutOfScope is the expected share of out-of-scope messages for calibration. A higher share
	// lowers the confidence.
	OutOfScope float64
	// Scorer computes sentence embeddings; without one, only words are matched.
	Scorer Scorer
	// ScorerTold is called with the error, or nil, when the scorer has computed the embeddings of
	// a catalog. It may be nil.
	ScorerTold func(error)
	// ModelCache stores trained models; without one they are trained again after a restart.
	ModelCache ModelCache
}

// withDefaults sets the defaults and checks the order of the gates.
func (c Config) withDefaults() (Config, error) {
	c.Accept = cmp.Or(c.Accept, DefaultAccept)
	c.AcceptWrite = cmp.Or(c.AcceptWrite, max(DefaultAcceptWrite, c.Accept))
	c.Clarify = cmp.Or(c.Clarify, min(DefaultClarify, c.Accept))
	c.TieMargin = cmp.Or(c.TieMargin, DefaultTieMargin)
	c.Suggestions = cmp.Or(c.Suggestions, DefaultSuggestions)
	c.OutOfScope = cmp.Or(c.OutOfScope, DefaultOutOfScope)
	ordered := 0 < c.Clarify && c.Clarify <= c.Accept && c.Accept <= c.AcceptWrite && c.AcceptWrite <= 1
	if !ordered {
		return c, &contracts.Error{
			Code:    contracts.CodeInvalid,
			Message: fmt.Sprintf("confidence gates must rise from 0 to 1: clarify %g, accept %g, accept_write %g", c.Clarify, c.Accept, c.AcceptWrite),
		}
	}
	if c.TieMargin < 0 || c.TieMargin >= 1 || c.Suggestions < 1 {
		return c, &contracts.Error{
			Code:    contracts.CodeInvalid,
			Message: fmt.Sprintf("tie margin %g must be in [0, 1), suggestions %d at least 1", c.TieMargin, c.Suggestions),
		}
	}
	if c.OutOfScope <= 0 || c.OutOfScope > 0.9 {
		return c, contracts.Errorf(contracts.CodeInvalid, "the share out of scope must be above 0 and at most 0.9, not %g", c.OutOfScope)
	}
	return c, nil
}
