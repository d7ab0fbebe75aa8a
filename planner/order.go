package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// plannedIntent is an intent during compilation.
type plannedIntent struct {
	intent  contracts.Intent
	pointer string
	target  *capability
	call    *call
	built   placedCall
	// before are the intents that precede this one in the order; after are those that it names.
	before, after []*plannedIntent
	// meets means that the call ends in a shared join.
	meets bool
	// step is the step of a draft that the intent was made from, nil otherwise.
	step *draftStep
}

func (a *plannedIntent) writes() bool { return a.target.Policy.SideEffectClass.Writes() }

// edges returns the nodes that this intent depends on, and those that it only follows. Writes keep
// the order of the message and depend on the earlier steps. A read follows a write only if it may
// see its effect or if a program stated the order, whatever the write's outcome. The word order of
// a message means nothing for reads, and reads are not ordered among each other.
func (a *plannedIntent) edges() (needs, after []string) {
	for _, b := range a.before {
		said := slices.Contains(a.after, b)
		switch {
		case a.writes() && said:
			needs = append(needs, b.ends()...)
		case !a.writes() && b.writes() && (said && !a.fromWords() || a.mayObserve(b)):
			after = append(after, b.ends()...)
		}
	}
	return needs, after
}

// ends returns the nodes that later intents wait for. A shared join may itself wait for such an
// intent, so the calls are used instead.
func (a *plannedIntent) ends() []string {
	if a.meets {
		return a.built.calls
	}
	return []string{a.built.anchor}
}

// fromWords reports whether the intent was read from a person's text. Then its order is only a
// hint.
func (a *plannedIntent) fromWords() bool {
	return a.step == nil && (a.intent.Source == "local" || a.intent.Source == "llm")
}

// read resolves, validates and orders the intents, and prepares their parameters.
func (c *compiler) read() ([]*plannedIntent, error) {
	if c.req.Draft != nil {
		if len(c.req.Intents) > 0 {
			return nil, contracts.Invalid("a request has intents or a draft", fault("/draft", "give it or the intents, not both"))
		}
		return c.drafting.read()
	}
	switch n := len(c.req.Intents); {
	case n == 0:
		return nil, contracts.Invalid("there is nothing to plan", fault("/intents", "must have at least one intent"))
	case n > maxIntents:
		return nil, contracts.Errorf(contracts.CodeBudgetExceeded, "the request has %d intents; at most %d can be planned at once", n, maxIntents)
	}
	asks := make([]*plannedIntent, 0, len(c.req.Intents))
	for i, in := range c.req.Intents {
		a, err := c.resolve(i, in)
		if err != nil {
			return nil, err
		}
		asks = append(asks, a)
	}
	c.link(asks)
	for _, a := range asks {
		if a.target == nil {
			continue
		}
		if err := c.prepareAsk(a); err != nil {
			return nil, err
		}
	}
	if err := c.invalid(); err != nil {
		return nil, err
	}
	return c.order(asks)
}

// resolve finds the capability of an intent; after a fault, target is nil.
func (c *compiler) resolve(i int, in contracts.Intent) (*plannedIntent, error) {
	a := &plannedIntent{intent: in, pointer: fmt.Sprintf("/intents/%d", i)}
	if a.intent.ID == "" {
		a.intent.ID = fmt.Sprintf("i%d", i+1)
	}
	if len(a.intent.ID) > 64 {
		c.fault(a.pointer+"/id", "must have at most 64 characters")
	}
	ref := in.Capability
	if in.Domain != "" && !strings.HasPrefix(ref, in.Domain+".") {
		ref = in.Ref()
	}
	entry, err := c.req.Catalog.Resolve(ref, in.Domain)
	if err != nil {
		if missing := inactive(c.req.Catalog, in); missing != nil {
			return nil, missing
		}
		c.fault(a.pointer+"/capability", "%s", err)
		return a, nil
	}
	if err := c.permit(entry); err != nil {
		return nil, err
	}
	a.target = c.capability(entry)
	return a, nil
}

// link resolves the ids in after.
func (c *compiler) link(asks []*plannedIntent) {
	byID := make(map[string]*plannedIntent, len(asks))
	for _, a := range asks {
		if byID[a.intent.ID] != nil {
			c.fault(a.pointer+"/id", "%q is used twice", a.intent.ID)
		}
		byID[a.intent.ID] = a
	}
	for _, a := range asks {
		for i, id := range a.intent.After {
			b := byID[id]
			switch {
			case b == nil:
				c.fault(fmt.Sprintf("%s/after/%d", a.pointer, i), "there is no intent %q", id)
			case b == a:
				c.fault(fmt.Sprintf("%s/after/%d", a.pointer, i), "an intent cannot come after itself")
			case !slices.Contains(a.after, b):
				a.after = append(a.after, b)
			}
		}
	}
}

// order sorts by after, and otherwise keeps the order of the sentence.
func (c *compiler) order(asks []*plannedIntent) ([]*plannedIntent, error) {
	sorted := make([]*plannedIntent, 0, len(asks))
	placed := func(a *plannedIntent) bool { return slices.Contains(sorted, a) }
	for len(sorted) < len(asks) {
		i := slices.IndexFunc(asks, func(a *plannedIntent) bool {
			return !placed(a) && !slices.ContainsFunc(a.after, func(b *plannedIntent) bool { return !placed(b) })
		})
		if i < 0 {
			return nil, contracts.Invalid("the order of the intents goes in a circle", fault("/intents", "after must not lead back"))
		}
		asks[i].before = slices.Clone(sorted)
		sorted = append(sorted, asks[i])
	}
	return sorted, nil
}

// prepareAsk prepares the parameters of an intent and asks for what is missing.
func (c *compiler) prepareAsk(a *plannedIntent) error {
	cleaned := cleaner{templates: a.step != nil}
	params := cleaned.object(a.intent.Parameters, "", 0)
	p := preparedParams{faults: cleaned.faults}
	if len(p.faults) == 0 {
		var err error
		if p, err = c.prepare(a.target, params); err != nil {
			return err
		}
	}
	for _, f := range p.faults {
		c.rejectParam(a, f)
	}
	for _, name := range p.missing {
		c.askParam(a.intent.ID, a.target, name, "")
	}
	for i, name := range a.intent.Missing {
		if _, given := contracts.Field(a.intent.Parameters, name); given || a.target.listed(name, params) {
			continue
		}
		if !a.target.knows(name) {
			c.fault(fmt.Sprintf("%s/missing/%d", a.pointer, i), "%s has no parameter %q", a.target.Ref(), name)
			continue
		}
		c.askParam(a.intent.ID, a.target, name, "")
	}
	a.call = &call{
		preparedParams: p, target: a.target, intent: a.intent.ID, said: a.intent.Utterance, required: true, chain: []string{a.target.Ref()},
	}
	return nil
}

// rejectParam asks about an invalid value if a person's text was read, and adds a fault if a
// program gave data.
func (c *compiler) rejectParam(a *plannedIntent, f contracts.Fault) {
	name := a.target.fieldAt(f.Pointer)
	value, given := contracts.Field(a.intent.Parameters, name)
	if a.fromWords() && a.target.declared(name) && !a.target.spec(param(f.Pointer)).PII && given {
		c.askParam(a.intent.ID, a.target, name, fmt.Sprintf("%q does not fit: %s.", cut(spoken(value), 60), f.Message))
		return
	}
	if a.fromWords() && a.target.declared(name) {
		c.askParam(a.intent.ID, a.target, name, "That does not fit: "+f.Message+".")
		return
	}
	member := "/parameters"
	if a.step != nil {
		member = "/params"
	}
	c.fault(a.pointer+member+f.Pointer, "%s", f.Message)
}

// inactive returns an error if the intent names a workflow that lacks capabilities, else nil.
func inactive(catalog *contracts.Catalog, in contracts.Intent) error {
	d, ok := catalog.Domain(in.Domain)
	if !ok || d.Manifest == nil {
		return nil
	}
	if _, ok := d.Manifest.Workflow(in.Capability); !ok {
		return nil
	}
	missing := strings.Join(d.Inactive[strings.TrimPrefix(in.Capability, in.Domain+".")], ", ")
	return contracts.Errorf(contracts.CodeUnavailable, "the workflow %q cannot be used until there is %s",
		in.Capability, cmp.Or(missing, "all that its steps name"))
}
