package options

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/intent/local"
)

// Thresholds are from where on it goes on with a read, or a write, without asking, and from
// where on it asks, each from 0 to 1; 0 is the default.
type Thresholds struct {
	AcceptRead  float64 `json:"accept_read,omitempty"`
	AcceptWrite float64 `json:"accept_write,omitempty"`
	Ask         float64 `json:"ask,omitempty"`
}

// Flags adds the flags; write says what holds of a write besides.
func (g *Thresholds) Flags(cmd *cobra.Command, write string) {
	flags := cmd.Flags()
	flags.Float64Var(&g.AcceptRead, "accept-read", 0, "how sure of its reading, from 0 to 1, it must be to go on with a read without asking which was meant")
	flags.Float64Var(&g.AcceptWrite, "accept-write", 0, "the same for what has an effect; never below --accept-read"+write)
	flags.Float64Var(&g.Ask, "ask", 0, "how sure it must be to ask at all; below, it says that it does not understand")
	for name, preset := range map[string]float64{"accept-read": local.DefaultAccept, "accept-write": local.DefaultAcceptWrite, "ask": local.DefaultClarify} {
		flags.Lookup(name).DefValue = fmt.Sprint(preset)
	}
}

// Config are the gates as the matcher takes them.
func (g *Thresholds) Config() local.Config {
	return local.Config{Accept: g.AcceptRead, AcceptWrite: g.AcceptWrite, Clarify: g.Ask}
}

// Check refuses what is no share.
func (g *Thresholds) Check() error {
	for name, v := range map[string]float64{"accept-read": g.AcceptRead, "accept-write": g.AcceptWrite, "ask": g.Ask} {
		if v < 0 || v > 1 {
			return fmt.Errorf("--%s must be between 0 and 1", name)
		}
	}
	return nil
}
