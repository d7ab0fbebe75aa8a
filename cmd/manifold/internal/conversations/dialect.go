package conversations

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// Dialects returns the forms in which models express the same request.
func Dialects() []string { return []string{dialectList, dialectParallel, dialectPlan, dialectWords} }

const (
	// dialectList passes several values of a parameter as a list in one call.
	dialectList = "list"
	// dialectParallel makes one call for each value.
	dialectParallel = "parallel"
	// dialectPlan writes all calls as the steps of one plan.
	dialectPlan = "plan"
	// dialectWords makes one call for each value, and writes values as people do.
	dialectWords = "words"
)

// dialect converts actions to calls.
type dialect struct {
	name    string
	surface map[string]string
	message string
}

// say returns the calls for actions.
func (d dialect) say(asked scripted.Asked, wanted []conversation.Action, rules conversation.Rules) scripted.Answer {
	if d.name != dialectList {
		wanted = rules.Expand(wanted)
	}
	if d.name == dialectPlan && offers(asked, toolPlan) {
		return scripted.Answer{Calls: []scripted.Call{{Name: toolPlan, Arguments: map[string]any{"steps": d.steps(wanted)}}}}
	}
	var out scripted.Answer
	for _, a := range wanted {
		out.Calls = append(out.Calls, scripted.Call{Name: a.Capability, Arguments: d.values(a.Params)})
	}
	return out
}

func (d dialect) steps(wanted []conversation.Action) []any {
	var out []any
	for n, a := range wanted {
		out = append(out, map[string]any{"id": fmt.Sprintf("s%d", n+1), "tool": a.Capability, "params": d.values(a.Params)})
	}
	return out
}

func (d dialect) values(params map[string]any) map[string]any {
	out := make(map[string]any, len(params))
	for key, v := range params {
		out[key] = d.value(v)
	}
	return out
}

// value returns a value in the form of the dialect.
func (d dialect) value(v any) any {
	if d.name != dialectWords {
		return v
	}
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		return d.text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = d.value(v[i])
		}
		return out
	default:
		return v
	}
}

// text returns a text as people write it: a date as day and month, and a value that the message
// expresses in other words in these words.
func (d dialect) text(v string) string {
	if day, err := time.Parse(time.DateOnly, v); err == nil {
		return day.Format("2 Jan")
	}
	stem, _, _ := strings.Cut(v, ".") // people omit the part behind a dot
	if said := d.surface[v]; said != "" && !strings.Contains(words(d.message), words(stem)) {
		return said
	}
	return v
}
