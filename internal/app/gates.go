package app

import (
	"cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// Gates are how sure of its reading of a message the server must be, from 0 to 1; 0
// takes the default. A registration and the site policy can ask for more of single
// domains and capabilities.
type Gates struct {
	// AcceptRead and AcceptWrite are from where on it goes on with a read, or a write,
	// without asking which was meant. A write never takes less than the default.
	AcceptRead, AcceptWrite float64
	// Ask is from where on it asks; below, it says that it does not understand.
	Ask float64
}

// config adds the gates to those of an intent adapter.
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
