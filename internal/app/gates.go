package app

import (
	"cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// Gates are confidence thresholds for understanding messages, from 0 to 1; 0 means the default. A
// registration and the site policy can require more for single domains and capabilities.
type Gates struct {
	// AcceptRead and AcceptWrite are the minimum confidence for acting on a read or a write
	// without asking. AcceptWrite cannot be below the default.
	AcceptRead, AcceptWrite float64
	// Ask is the minimum confidence for asking a question. Below it, the message is declined.
	Ask float64
}

// config adds the thresholds to a matcher configuration. It returns an error if AcceptWrite is
// too low.
func (g Gates) config(c local.Config) (local.Config, error) {
	if g.AcceptWrite != 0 && g.AcceptWrite < local.DefaultAcceptWrite {
		return c, contracts.Errorf(contracts.CodeInvalid,
			"accept_write must be at least %g, not %g: a site can ask more often before a write, never less", local.DefaultAcceptWrite, g.AcceptWrite)
	}
	c.Accept = g.AcceptRead
	c.AcceptWrite = cmp.Or(g.AcceptWrite, max(local.DefaultAcceptWrite, g.AcceptRead))
	c.Clarify = g.Ask
	return c, nil
}
