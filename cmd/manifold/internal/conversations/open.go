package conversations

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// opened is an open interrupt, as a prompt describes it.
type opened struct {
	kind, id, ref string
	values        map[string]any
}

var (
	openLine   = regexp.MustCompile(`(?m)^Open (.+?) with id (\S+?): .*$`)
	openAction = regexp.MustCompile(`It belongs to a call of (\S+?)(?: with (\{.*\}))?\.$`)
)

// openedIn returns the open interrupts that a request describes.
func openedIn(asked scripted.Asked) []opened {
	var out []opened
	for _, m := range openLine.FindAllStringSubmatch(waiting(asked), -1) {
		o := opened{kind: m[1], id: m[2]}
		if a := openAction.FindStringSubmatch(m[0]); a != nil {
			o.ref = a[1]
			_ = json.Unmarshal([]byte(a[2]), &o.values) // without parameters there are no values
		}
		out = append(out, o)
	}
	return out
}

// waiting returns the text that describes the open interrupts.
func waiting(asked scripted.Asked) string {
	for _, t := range slices.Backward(asked.Turns) {
		if t.Role == "assistant" && strings.HasPrefix(t.Text, "What is open in this conversation.") {
			return t.Text
		}
	}
	return ""
}

// of returns the newest open interrupt of a capability; ok is false if there is none.
func of(asked scripted.Asked, ref string) (opened, bool) {
	all := openedIn(asked)
	for _, a := range slices.Backward(all) {
		if a.ref == ref {
			return a, true
		}
	}
	return opened{}, false
}

// changes returns the values of an action that the open interrupt does not have.
func (o opened) changes(wanted conversation.Action, rules conversation.Rules) map[string]any {
	out := map[string]any{}
	for key, v := range wanted.Params {
		if have, ok := o.values[key]; !ok || !rules.Equal(key, v, have) {
			out[key] = v
		}
	}
	return out
}
