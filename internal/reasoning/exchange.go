package reasoning

import (
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Exchange is one model call with its masked texts.
type Exchange struct {
	At     time.Time           `json:"at"`
	Call   contracts.ModelCall `json:"call"`
	System string              `json:"system"`
	Turns  []Turn              `json:"turns"`
	Tools  []string            `json:"tools,omitempty"`
	Reply  string              `json:"reply"`
}

// Turn is a Message as stored in the journal.
type Turn struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

func exchange(now time.Time, r Request, reply Reply, call contracts.ModelCall) Exchange {
	e := Exchange{At: now, Call: call, System: Mask(r.Instructions().String()), Reply: Mask(reply.Text)}
	for _, t := range r.Turns {
		e.Turns = append(e.Turns, Turn{Role: t.Role, Text: Mask(t.Text.String())})
	}
	for _, t := range r.Tools {
		e.Tools = append(e.Tools, t.Name)
	}
	for _, c := range reply.Calls {
		e.Reply += fmt.Sprintf("\n%s(%s)", c.Name, Mask(string(c.Arguments)))
	}
	return e
}

// String formats the exchange for a terminal.
func (e Exchange) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "── %s · %s · %s · %d ms, %d + %d tokens", e.At.Format(time.DateTime), e.Call.Purpose, e.Call.Model, e.Call.DurationMS, e.Call.Tokens.In, e.Call.Tokens.Out)
	if e.Call.Error != "" {
		fmt.Fprintf(&out, " · %s", e.Call.Error)
	}
	fmt.Fprintf(&out, "\n[instructions]\n%s\n", e.System)
	for _, t := range e.Turns {
		fmt.Fprintf(&out, "[%s]\n%s\n", t.Role, t.Text)
	}
	if len(e.Tools) > 0 {
		fmt.Fprintf(&out, "[offered] %s\n", strings.Join(e.Tools, ", "))
	}
	fmt.Fprintf(&out, "[answer]\n%s\n", strings.TrimSpace(e.Reply))
	return out.String()
}
