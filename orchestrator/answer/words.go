package answer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// WhoIs returns the caller's identity and roles, in Markdown.
func WhoIs(who access.Principal) string {
	return whoIs(who, "**"+chat.Escape(who.Subject())+"**", chat.Escape)
}

func whoIs(who access.Principal, name string, escape func(string) string) string {
	roles := make([]string, len(who.Roles))
	for n, r := range who.Roles {
		roles[n] = string(r)
	}
	name = "You are " + name + " here."
	if who.Shared() {
		name = "I do not know who you are: this connection (" + escape(who.Subject()) + ") speaks for everybody who uses it."
	}
	return name + " Your roles: " + escape(cmp.Or(strings.Join(roles, ", "), "none")) + "."
}

// Talk returns the answer to small talk, as plain text; "" if this kind has none.
func Talk(who access.Principal, kind local.Talk) string {
	switch kind {
	case local.TalkThanks:
		return "You are welcome."
	case local.TalkFarewell:
		return "Goodbye. What waits here goes on waiting."
	case local.TalkWellbeing:
		return "All is well here, thank you. Say what you want to be done, or write help for all that you can ask for."
	case local.TalkApprovals:
		return "What changes something waits for a person, who sees exactly what will be sent: so nothing is done by a misunderstanding. What only looks needs no approval. Write help approvals for more."
	case local.TalkAsker:
		return whoIs(who, who.Subject(), func(s string) string { return s })
	default:
		return ""
	}
}

// Age describes how long ago something was.
func Age(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(d / unit.of); {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}

// Reading describes how one intent was understood.
func Reading(catalog *contracts.Catalog, in contracts.Intent) string {
	name := in.Ref()
	if entry, ok := catalog.Capability(in.Ref()); ok {
		name = cmp.Or(entry.Capability.Description, name)
	}
	values := make([]string, 0, len(in.Parameters))
	for _, p := range slices.Sorted(maps.Keys(in.Parameters)) {
		text := strings.ReplaceAll(p, "_", " ") + ": " + chat.FormatValue(in.Parameters[p])
		if in.Utterance != nil && in.Utterance.Values[p] != "" && in.Utterance.Values[p] != contracts.FromUtterance {
			text += " (" + strings.ReplaceAll(string(in.Utterance.Values[p]), "_", " ") + ")"
		}
		values = append(values, chat.Escape(text))
	}
	line := "I understood: " + chat.Escape(contracts.CleanSummary(name))
	if len(values) > 0 {
		line += " – " + strings.Join(values, "; ")
	}
	return line
}

// Explains reports whether every word of a text is a value or a word of the capability. Words of up
// to three letters, such as articles, and words for which small is true are ignored.
func Explains(entry *contracts.CapabilityEntry, text string, evidence map[string]contracts.Evidence, small func(string) bool) bool {
	rest := []byte(text)
	for _, e := range evidence {
		if e.Span[0] >= 0 && e.Span[0] <= e.Span[1] && e.Span[1] <= len(rest) {
			for n := e.Span[0]; n < e.Span[1]; n++ {
				rest[n] = ' '
			}
		}
	}
	own := strings.ToLower(entry.Capability.Name + " " + entry.Capability.Description + " " + string(entry.Capability.Schema))
	for _, word := range strings.FieldsFunc(string(rest), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if len([]rune(word)) > 3 && !small(word) && !strings.Contains(own, strings.ToLower(word)) {
			return false
		}
	}
	return true
}
