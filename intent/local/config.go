package local

import (
	"cmp"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// The gates that are used when a Config leaves them out.
const (
	DefaultAccept      = 0.75
	DefaultAcceptWrite = 0.80
	DefaultClarify     = 0.40
	DefaultTieMargin   = 0.04
	DefaultSnapshots   = 4
	DefaultSuggestions = 4
	DefaultOutOfScope  = 0.2
)

// Config holds the confidence gates; zero values take the defaults. They are
// the same for all domains, but for what the entries of a catalog ask for on top.
type Config struct {
	// Accept is the confidence from which a read is done.
	Accept float64
	// AcceptWrite is the same for what has an effect; never below Accept.
	AcceptWrite float64
	// Clarify is the confidence from which it is worth asking; below, the
	// message is declined.
	Clarify float64
	// TieMargin is how close two candidates must be for a question.
	TieMargin float64
	// Suggestions is how many choices a question or a decline offers.
	Suggestions int
	// OutOfScope is the share of messages that are taken to be meant for no
	// capability, when a confidence is calibrated: more of it makes the matcher
	// more careful.
	OutOfScope float64
	// Scorer knows what texts mean; without one, words alone count.
	Scorer Scorer
	// ScorerTold is told whether the scorer gave the vectors of a catalog, with nil
	// if it did; nil is fine.
	ScorerTold func(error)
	// ModelCache keeps what is learned of catalogs; without one it is learned again.
	ModelCache ModelCache
}

// withDefaults fills in what is left out and checks the order of the gates.
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
