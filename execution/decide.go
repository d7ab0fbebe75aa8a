package execution

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// Decider is who decides.
type Decider struct {
	// ID identifies the person in decisions and ledger.
	ID string
	// Via is the door that the decision comes through, KeyID the key that it comes
	// with, From the address, for the record.
	Via, KeyID, From string
	// Void tells of an approval that was given before whether it counts no more; nil
	// says of none.
	Void func(d contracts.InterruptDecided) bool
	// Stands tells what they have to do with the action; nil says nothing.
	Stands func(i contracts.Interrupt) contracts.Stands
	// May tells whether they may, judged on the interrupt as it is at the moment
	// of deciding.
	May func(i contracts.Interrupt, d contracts.Decision) error
}

// Decide commits a decision or an answer to an open interrupt: the one function
// behind every door. The first wins; everybody after gets conflict with what
// was decided as Detail.
func (r *Runner) Decide(ctx context.Context, id string, body contracts.Resume, who Decider) (contracts.Interrupt, error) {
	current, err := InterruptNow(ctx, r.store, id)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if body.Decision == contracts.DecisionEdit && current.Workflow == "" {
		if err := r.checkEdit(ctx, current, body); err != nil {
			return contracts.Interrupt{}, err
		}
	}
	if words, ok := model.WordsOf(body.Response); ok && current.Workflow == "" {
		if err := r.checkSearch(ctx, current, words); err != nil {
			return contracts.Interrupt{}, err
		}
	}
	if current.Workflow != "" { // a question, whose answers may be given as decisions
		body = contracts.Resume{Response: fromDecision(body), Comment: body.Comment, ActionSHA256: body.ActionSHA256}
	}
	// The schema of an answer is compiled once, however often the change is
	// computed.
	given := readAnswer(current, body)
	decided, err := UpdateInterrupt(ctx, r.store, id, func(i *contracts.Interrupt, now time.Time) error {
		if i.Type.Gate() {
			return applyDecision(i, body, who, now)
		}
		return applyAnswer(i, body, given, who, now)
	})
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if decided.RunID != "" {
		r.Wake(decided.RunID)
	}
	return decided, nil
}

func applyDecision(i *contracts.Interrupt, body contracts.Resume, who Decider, now time.Time) error {
	if i.ExpiresAt != nil && !now.Before(*i.ExpiresAt) {
		return contracts.Errorf(contracts.CodeConflict, "gate %s expired at %s", i.Code, i.ExpiresAt.Format(time.RFC3339))
	}
	if body.ActionSHA256 != "" && body.ActionSHA256 != i.ActionSHA256 {
		return contracts.Errorf(contracts.CodeStaleApproval, "gate %s is about another action now; look at it again", i.Code)
	}
	if body.Decision == contracts.DecisionApprove && body.ActionSHA256 == "" {
		return contracts.Errorf(contracts.CodeInvalid, "an approval must carry the action_sha256 that it was made for")
	}
	if err := who.May(*i, body.Decision); err != nil {
		return err
	}
	d := contracts.InterruptDecided{
		Decision: body.Decision, DecidedBy: who.ID, DecidedAt: now, Comment: body.Comment,
		EditedParams: body.EditedParams, ActionSHA256: i.ActionSHA256, Via: who.Via, KeyID: who.KeyID, From: who.From,
	}
	if who.Stands != nil {
		d.Stands = who.Stands(*i)
	}
	i.Decisions = append(i.Decisions, d)
	switch body.Decision {
	case contracts.DecisionApprove:
		if counted(*i, who).Affirmed() {
			i.Status = contracts.InterruptApproved
		}
	case contracts.DecisionReject:
		i.Status = contracts.InterruptRejected
	case contracts.DecisionEdit:
		i.Status = contracts.InterruptSuperseded
	default:
		return contracts.Errorf(contracts.CodeInvalid, "decision must be approve, reject or edit, not %q", body.Decision)
	}
	return nil
}

// counted gives a gate without the approvals that count no more.
func counted(i contracts.Interrupt, who Decider) *contracts.Interrupt {
	if who.Void != nil {
		i.Decisions = slices.DeleteFunc(slices.Clone(i.Decisions), who.Void)
	}
	return &i
}

// checkEdit validates edited parameters before they supersede a gate.
func (r *Runner) checkEdit(ctx context.Context, i contracts.Interrupt, body contracts.Resume) error {
	if i.Type != contracts.InterruptWriteApproval || i.Action == nil {
		return contracts.Errorf(contracts.CodeInvalid, "only a write approval can be edited")
	}
	if body.EditedParams == nil {
		return contracts.Errorf(contracts.CodeInvalid, "an edit must carry edited_params: all parameters as they should be")
	}
	entry, ok := r.catalogs.Catalog().Capability(i.Action.Capability)
	if !ok {
		return contracts.Errorf(contracts.CodeConflict, "%s is no longer offered", i.Action.Capability)
	}
	params, err := r.outside(ctx, nil).materialize(entry, i.Action.Edit(body.EditedParams))
	if err != nil {
		return err
	}
	return fitsSchema(entry, params)
}

// given is an answer as it was read for a question that looked so.
type given struct {
	question contracts.Interrupt
	value    any
	err      error
}

func readAnswer(i contracts.Interrupt, body contracts.Resume) given {
	if i.Type.Gate() || i.Status != contracts.InterruptOpen {
		return given{question: i}
	}
	value, err := AnswerValue(i, body.Response)
	return given{question: i, value: value, err: err}
}

// still tells whether the question asks for what was read.
func (g given) still(i *contracts.Interrupt) bool {
	return reflect.DeepEqual(g.question.Options, i.Options) && reflect.DeepEqual(g.question.ResponseSchema, i.ResponseSchema)
}

func applyAnswer(i *contracts.Interrupt, body contracts.Resume, given given, who Decider, now time.Time) error {
	if body.Decision != "" && body.Decision != contracts.DecisionAnswer {
		return contracts.Errorf(contracts.CodeInvalid, "%s is a question: answer it with a response", i.Code)
	}
	if body.ActionSHA256 != "" && i.ActionSHA256 != "" && body.ActionSHA256 != i.ActionSHA256 {
		return contracts.Errorf(contracts.CodeStaleApproval, "%s is not what the answer was made for; look at it again", i.Code)
	}
	if i.ExpiresAt != nil && !now.Before(*i.ExpiresAt) {
		return contracts.Errorf(contracts.CodeConflict, "%s expired at %s; ask for it again", i.Code, i.ExpiresAt.Format(time.RFC3339))
	}
	if err := who.May(*i, contracts.DecisionAnswer); err != nil {
		return err
	}
	switch {
	case !given.still(i):
		return contracts.Errorf(contracts.CodeConflict, "%s asks for something else by now; look at it again", i.Code)
	case given.err != nil:
		return given.err
	}
	i.Status, i.Response = contracts.InterruptAnswered, given.value
	i.Decisions = append(i.Decisions, contracts.InterruptDecided{
		Decision: contracts.DecisionAnswer, DecidedBy: who.ID, DecidedAt: now, Comment: body.Comment, Via: who.Via, KeyID: who.KeyID, From: who.From,
		ActionSHA256: i.ActionSHA256,
	})
	return nil
}

// AnswerValue reads an answer: the id, the label or the value of an option, or
// a value that fits the response schema. The error says what would fit.
func AnswerValue(i contracts.Interrupt, response any) (any, error) {
	if response == nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%s needs a response%s", i.Code, offered(i))
	}
	if i.Workflow != "" {
		facts, err := humanAnswer(i, response)
		return facts, err
	}
	text := strings.TrimSpace(asText(response))
	if o, ok := optionBy(i.Options, text); ok {
		return meaning(o), nil
	}
	if value, ok := raiseInWords(i, text); ok {
		response = value
	}
	if i.ResponseSchema == nil {
		if len(i.Options) > 0 {
			return nil, contracts.Errorf(contracts.CodeInvalid, "%q is none of the options%s", text, offered(i))
		}
		return response, nil
	}
	raw, err := contracts.Canonical(i.ResponseSchema)
	if err != nil {
		return nil, err
	}
	schema, err := contracts.CompileSchema(raw)
	if err != nil {
		return nil, err
	}
	if faults := schema.Validate(response); len(faults) > 0 {
		e := contracts.Invalid("the answer to "+i.Code+" does not fit"+offered(i), faults...)
		return nil, e
	}
	return response, nil
}

// optionBy finds the option that a text names. Ids go before everything else: a
// label is foreign, and may be the id of another option.
func optionBy(options []contracts.InterruptOption, text string) (contracts.InterruptOption, bool) {
	for _, named := range []func(o contracts.InterruptOption) bool{
		func(o contracts.InterruptOption) bool { return text == o.ID },
		func(o contracts.InterruptOption) bool { return strings.EqualFold(text, o.Label) },
		func(o contracts.InterruptOption) bool { return text == asText(meaning(o)) },
	} {
		if at := slices.IndexFunc(options, named); at >= 0 {
			return options[at], true
		}
	}
	return contracts.InterruptOption{}, false
}

// meaning is what choosing an option means.
func meaning(o contracts.InterruptOption) any {
	if o.Value == nil {
		return o.ID
	}
	return o.Value
}

func offered(i contracts.Interrupt) string {
	if len(i.Options) == 0 {
		return ""
	}
	labels := make([]string, 0, len(i.Options))
	for _, o := range i.Options {
		labels = append(labels, o.ID+" = "+o.Label)
	}
	return "; choose one of: " + strings.Join(labels, ", ")
}
