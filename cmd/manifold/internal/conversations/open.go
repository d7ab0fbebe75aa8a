package conversations

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// opened is a question or a request that is open, as a prompt tells of it.
type opened struct {
	kind, id, ref string
	values        map[string]any
}

var (
	openLine   = regexp.MustCompile(`(?m)^Open (.+?) with id (\S+?): .*$`)
	openAction = regexp.MustCompile(`It belongs to a call of (\S+?)(?: with (\{.*\}))?\.$`)
)

// openedIn are what a request tells of what is open.
func openedIn(asked scripted.Asked) []opened {
	var out []opened
	for _, m := range openLine.FindAllStringSubmatch(waiting(asked), -1) {
		o := opened{kind: m[1], id: m[2]}
		if a := openAction.FindStringSubmatch(m[0]); a != nil {
			o.ref = a[1]
			_ = json.Unmarshal([]byte(a[2]), &o.values) // without values, none are known
		}
		out = append(out, o)
	}
	return out
}

// waiting is the text that tells of what is open.
func waiting(asked scripted.Asked) string {
	for _, t := range slices.Backward(asked.Turns) {
		if t.Role == "assistant" && strings.HasPrefix(t.Text, "What is open in this conversation.") {
			return t.Text
		}
	}
	return ""
}

// of is what is open of a capability, the newest first; ok is false for none.
func of(asked scripted.Asked, ref string) (opened, bool) {
	all := openedIn(asked)
	for _, a := range slices.Backward(all) {
		if a.ref == ref {
			return a, true
		}
	}
	return opened{}, false
}

// changes are the values of an action that an open request does not have.
func (o opened) changes(wanted conversation.Action, rules conversation.Rules) map[string]any {
	out := map[string]any{}
	for key, v := range wanted.Params {
		if have, ok := o.values[key]; !ok || !rules.Equal(key, v, have) {
			out[key] = v
		}
	}
	return out
}
