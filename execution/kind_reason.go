package execution

import (
	"github.com/manifold-run/manifold/contracts"
)

// reason thinks. Without a model its fallback does: a read or a proposal, whose
// facts must be what the step promises.
type reason struct{ read }

func (r reason) start(t *turn) {
	if t.n.Spec.Tool == "" {
		t.fail(contracts.ErrNeedsModel, "no model is configured, and the step has no fallback", contracts.EffectNone)
		return
	}
	r.read.start(t)
}

func (r reason) reply(t *turn, d done) {
	if d.task == taskCall && d.reply.Kind == ReplyResult && d.reply.Result.OK {
		if faults := promised(t, d.reply.Result.Facts); len(faults) > 0 {
			message := t.n.Spec.Tool + " did not give what the step promises: " + contracts.Invalid("", faults...).Error()
			t.fail(contracts.ErrReasoningFailed, message, contracts.EffectNone)
			return
		}
	}
	r.read.reply(t, d)
}

// promised holds facts to the schema of the step's output.
func promised(t *turn, facts map[string]any) []contracts.Fault {
	raw, err := contracts.Canonical(t.n.Spec.Reason.OutputSchema)
	if err != nil {
		return []contracts.Fault{{Message: err.Error()}}
	}
	schema, err := contracts.CompileSchema(raw)
	if err != nil {
		return []contracts.Fault{{Message: err.Error()}}
	}
	return schema.Validate(asAny(facts))
}
