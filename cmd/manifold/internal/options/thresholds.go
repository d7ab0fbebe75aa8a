package options

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/intent/local"
)

// Thresholds are the minimum confidences for accepting a read or a write without a question, and for
// asking at all, each from 0 to 1; 0 takes the default.
type Thresholds struct {
	AcceptRead  float64 `json:"accept_read,omitempty"`
	AcceptWrite float64 `json:"accept_write,omitempty"`
	Ask         float64 `json:"ask,omitempty"`
}

// Flags adds the flags; write extends the help of --accept-write.
func (g *Thresholds) Flags(cmd *cobra.Command, write string) {
	flags := cmd.Flags()
	flags.Float64Var(&g.AcceptRead, "accept-read", 0, "how sure of its reading, from 0 to 1, it must be to go on with a read without asking which was meant")
	flags.Float64Var(&g.AcceptWrite, "accept-write", 0, "the same for what has an effect; never below --accept-read"+write)
	flags.Float64Var(&g.Ask, "ask", 0, "how sure it must be to ask at all; below, it says that it does not understand")
	for name, preset := range map[string]float64{"accept-read": local.DefaultAccept, "accept-write": local.DefaultAcceptWrite, "ask": local.DefaultClarify} {
		flags.Lookup(name).DefValue = fmt.Sprint(preset)
	}
}

// Config returns the thresholds in the form of the matcher.
func (g *Thresholds) Config() local.Config {
	return local.Config{Accept: g.AcceptRead, AcceptWrite: g.AcceptWrite, Clarify: g.Ask}
}

// Check rejects values outside of 0 to 1.
func (g *Thresholds) Check() error {
	for name, v := range map[string]float64{"accept-read": g.AcceptRead, "accept-write": g.AcceptWrite, "ask": g.Ask} {
		if v < 0 || v > 1 {
			return fmt.Errorf("--%s must be between 0 and 1", name)
		}
	}
	return nil
}
