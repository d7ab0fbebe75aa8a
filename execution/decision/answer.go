package decision

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Value converts an answer: the id, the label or the value of an option, or a value that matches
// the response schema. The error lists the options.
func Value(i contracts.Interrupt, response any) (any, error) {
	if response == nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%s needs a response%s", i.Code, offered(i))
	}
	if i.Workflow != "" {
		facts, err := Facts(i, response)
		return facts, err
	}
	text := strings.TrimSpace(runstate.Text(response))
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

// optionBy finds the option that a text names. Ids have priority, because labels come from a domain
// and may equal the id of another option.
func optionBy(options []contracts.InterruptOption, text string) (contracts.InterruptOption, bool) {
	for _, named := range []func(o contracts.InterruptOption) bool{
		func(o contracts.InterruptOption) bool { return text == o.ID },
		func(o contracts.InterruptOption) bool { return strings.EqualFold(text, o.Label) },
		func(o contracts.InterruptOption) bool { return text == runstate.Text(meaning(o)) },
	} {
		if at := slices.IndexFunc(options, named); at >= 0 {
			return options[at], true
		}
	}
	return contracts.InterruptOption{}, false
}

// meaning returns the value of an option, or its id if it has none.
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
