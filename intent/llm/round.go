package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// goesOn tells a further round: the model has read answers of domains.
func (m *message) goesOn() bool { return len(m.req.Results) > 0 }

// maxTold bounds the results of a further round together, in bytes: they leave room for the
// functions that come next.
const maxTold = 24 << 10

// within cuts the facts of the longest results, so that all have no more bytes than that.
func within(most int, results []intent.Result) []intent.Result {
	out := slices.Clone(results)
	for {
		sum, longest := 0, 0
		for i, r := range out {
			sum += len(r.Facts.String())
			if len(r.Facts.String()) > len(out[longest].Facts.String()) {
				longest = i
			}
		}
		if sum <= most {
			return out
		}
		facts := out[longest].Facts.String()
		head := strings.ToValidUTF8(facts[:len(facts)/2], "")
		out[longest].Facts = contracts.CompactWords(head + "… (cut)")
	}
}

// hold has the requester confirm, before its gate, each write of a further round that a
// rule holds back; all else of the round goes on. id names a call in the plan.
func (m *message) hold(u *intent.Understanding, id func(i int) string) {
	for i, c := range m.calls {
		if !c.entry.Policy.SideEffectClass.Writes() {
			continue
		}
		why := m.local.Restrains(m.req, c.entry, c.evidence, true)
		var question string
		deed := describe(call{entry: c.entry})
		switch unsaid := unstated(c); {
		case why != "":
			question = fmt.Sprintf("%s: %s, so nothing was done. Do you want it done: %s?", quote(m.req.Message), why, deed)
		case len(unsaid) > 0:
			question = fmt.Sprintf("%s stands nowhere. Shall I do this: %s?", strings.ReplaceAll(strings.Join(unsaid, ", "), "_", " "), deed)
		default:
			continue
		}
		if u.Held == nil {
			u.Held = map[string]string{}
		}
		u.Held[id(i)] = question
	}
}
