package conversations

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// Control functions of the server.
const (
	toolPlan     = "plan"
	toolAsk      = "ask"
	toolAnswer   = "answer_question"
	toolRevise   = "revise"
	toolWithdraw = "withdraw"
	toolReply    = "reply"
)

// tagUndo marks conversations that undo an action.
const tagUndo = "undo"

// perfect is a model that answers as each conversation expects, in one dialect. It declines turns
// without an expectation, so that the local reader handles them.
type perfect struct {
	*script

	rules   conversation.Rules
	dialect dialect
}

// Answer returns what the turn of a request expects.
func (p perfect) Answer(asked scripted.Asked) scripted.Answer {
	at, known := p.find(asked)
	var expected *conversation.Expectation
	if known && len(asked.Tools) > 0 {
		expected = at.item.At(at.turn)
	}
	answer := declined()
	if expected != nil {
		answer = p.answer(asked, at, *expected)
	}
	p.note(func(f *ModelMetrics) {
		f.Requests++
		if answer.Fault != "" {
			f.Declined++
		}
		if expected == nil {
			return
		}
		f.Known++
		for _, a := range expected.Wanted() {
			f.Wanted++
			if _, ok := offered(asked, a.Capability); !ok {
				f.NotOffered = append(f.NotOffered, at.item.ID+": "+a.Capability)
			}
		}
	})
	return answer
}

func (p perfect) answer(asked scripted.Asked, at place, e conversation.Expectation) scripted.Answer {
	if e.Closes || e.Replaces && e.Expect != conversation.OutcomeDo {
		return withdraw(asked)
	}
	switch e.Expect {
	case conversation.OutcomeDo:
		return p.do(asked, at, e)
	case conversation.OutcomeAsk:
		return call(asked, toolAsk, map[string]any{"question": question(asked, e, at)})
	case conversation.OutcomeDecline:
		return call(asked, toolReply, map[string]any{"text": "Nothing here can do that."})
	default:
		return call(asked, toolReply, map[string]any{"text": "You are welcome."})
	}
}

// withdraw withdraws an open interrupt, or undoes the last action.
func withdraw(asked scripted.Asked) scripted.Answer {
	arguments := map[string]any{}
	if open := openedIn(asked); len(open) > 0 {
		arguments["target"] = open[len(open)-1].id
	}
	return call(asked, toolWithdraw, arguments)
}

// call calls a function, or answers with its text if it is not offered.
func call(asked scripted.Asked, name string, arguments map[string]any) scripted.Answer {
	if !offers(asked, name) {
		text, _ := arguments["text"].(string)
		return scripted.Answer{Text: text}
	}
	return scripted.Answer{Calls: []scripted.Call{{Name: name, Arguments: arguments}}}
}

// question returns a question about the expectation's capability, with its description.
func question(asked scripted.Asked, e conversation.Expectation, at place) string {
	ref := e.For
	for _, a := range slices.Concat(e.Wanted(), at.item.Base) {
		if ref == "" {
			ref = a.Capability
		}
	}
	tool, ok := offered(asked, ref)
	if !ok {
		return "What exactly do you want?"
	}
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	text := strings.TrimRight(tool.Description, ".") + ":"
	if json.Unmarshal(tool.Schema, &schema) == nil && schema.Properties[e.Param].Description != "" {
		text += " " + strings.TrimRight(schema.Properties[e.Param].Description, ".") + "?"
	} else {
		text += " which one do you mean?"
	}
	return text
}

// do makes the calls of an expectation, or answers or revises an open interrupt.
func (p perfect) do(asked scripted.Asked, at place, e conversation.Expectation) scripted.Answer {
	wanted := p.choose(e.Wanted(), at.item.Turns[at.turn])
	if wanted == nil && at.item.Tagged(tagUndo) {
		return call(asked, toolWithdraw, map[string]any{})
	}
	if wanted == nil {
		return declined() // it depends on an id that the message does not contain
	}
	d := p.dialect
	d.message = at.item.Turns[at.turn]
	if value, ok := p.reply(asked, at, e, wanted); ok && offers(asked, toolAnswer) {
		return call(asked, toolAnswer, map[string]any{"value": d.value(value)})
	}
	if e.Replaces && offers(asked, toolRevise) && len(wanted) == 1 {
		if target, params, ok := p.revision(asked, at, wanted[0]); ok {
			return call(asked, toolRevise, map[string]any{"target": target, "params": d.values(params)})
		}
	}
	if len(e.Plan) > 0 && offers(asked, toolPlan) {
		var draft map[string]any
		if json.Unmarshal(e.Plan, &draft) == nil {
			return call(asked, toolPlan, draft)
		}
	}
	return d.say(asked, wanted, p.rules)
}

// choose replaces alternatives and wildcards by one value. It returns nil if an id is needed that the
// message does not contain.
func (p perfect) choose(wanted []conversation.Action, message string) []conversation.Action {
	var out []conversation.Action
	for _, a := range wanted {
		params := map[string]any{}
		for key, v := range a.Params {
			if options, ok := conversation.Alternatives(v); ok && len(options) > 0 {
				v = options[max(0, slices.IndexFunc(options, func(o any) bool { return strings.Contains(words(message), words(fmt.Sprint(o))) }))] // as it was said
			}
			if v == conversation.Wildcard {
				if v = anything(wanted, key, message); v == nil {
					return nil
				}
			}
			params[key] = v
		}
		out = append(out, conversation.Action{Capability: a.Capability, Params: params})
	}
	return out
}

// anything returns a value for a wildcard: that of another action ("rename it and show it"), else the
// message without its first word, which is the verb; nil for an id.
func anything(wanted []conversation.Action, key, message string) any {
	for _, a := range wanted {
		if v, ok := a.Params[key].(string); ok && v != conversation.Wildcard {
			return v
		}
	}
	if strings.HasSuffix(key, "_id") || key == "id" {
		return nil
	}
	if _, rest, ok := strings.Cut(message, " "); ok {
		return rest
	}
	return message
}

// reply returns the answer to an open question: the expected one, else the only value of the action
// that no earlier turn contains.
func (p perfect) reply(asked scripted.Asked, at place, e conversation.Expectation, wanted []conversation.Action) (any, bool) {
	if e.Reply != nil {
		return e.Reply, true
	}
	if !at.item.Tagged(conversation.TagAnswer) || at.turn == 0 || len(wanted) != 1 {
		return nil, false
	}
	o, belongs := of(asked, wanted[0].Capability)
	if !belongs && len(openedIn(asked)) > 0 {
		return nil, false // the question is the model's own; the call now has all values
	}
	if missing := o.changes(wanted[0], p.rules); len(o.values) > 0 && len(missing) == 1 {
		return slices.Collect(maps.Values(missing))[0], true
	}
	earlier := words(strings.Join(at.item.Turns[:at.turn], " "))
	var open []any
	last := words(at.item.Turns[at.turn])
	for _, key := range slices.Sorted(maps.Keys(wanted[0].Params)) {
		if v := wanted[0].Params[key]; !strings.Contains(earlier, words(fmt.Sprint(v))) {
			if strings.Contains(last, words(fmt.Sprint(v))) {
				return v, true
			}
			open = append(open, v)
		}
	}
	if len(open) != 1 {
		return nil, false
	}
	return open[0], true
}

// words returns the words of a text, separated and enclosed by spaces.
func words(text string) string {
	parts := strings.FieldsFunc(conversation.Fold(text), func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return " " + strings.Join(parts, " ") + " "
}

// revision returns the new values that a message gives to the requester's own open request.
func (p perfect) revision(asked scripted.Asked, at place, wanted conversation.Action) (target string, params map[string]any, ok bool) {
	if o, ok := of(asked, wanted.Capability); ok && len(o.values) > 0 {
		params = o.changes(wanted, p.rules)
		return o.id, params, len(params) > 0
	}
	earlier := words(strings.Join(at.item.Turns[:at.turn], " "))
	params = map[string]any{}
	for key, v := range wanted.Params {
		if !strings.Contains(earlier, words(fmt.Sprint(v))) {
			params[key] = v
		}
	}
	return target, params, len(params) > 0
}
