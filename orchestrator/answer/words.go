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
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// WhoIs says who is asking, as far as is known here.
func WhoIs(who access.Principal) string {
	roles := make([]string, len(who.Roles))
	for n, r := range who.Roles {
		roles[n] = string(r)
	}
	name := "You are **" + chat.Escape(who.Subject()) + "** here."
	if who.Shared() {
		name = "I do not know who you are: this connection (" + chat.Escape(who.Subject()) + ") speaks for everybody who uses it."
	}
	return name + " Your roles: " + chat.Escape(cmp.Or(strings.Join(roles, ", "), "none")) + "."
}

// Age says in words how long ago something was.
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

// Reading says how one intent was understood.
func Reading(catalog *contracts.Catalog, in contracts.Intent) string {
	name := in.Ref()
	if entry, ok := catalog.Capability(in.Ref()); ok {
		name = cmp.Or(entry.Capability.Description, name)
	}
	values := make([]string, 0, len(in.Parameters))
	for _, p := range slices.Sorted(maps.Keys(in.Parameters)) {
		text := strings.ReplaceAll(p, "_", " ") + ": " + chat.Value(in.Parameters[p])
		if in.Said != nil && in.Said.Values[p] != "" && in.Said.Values[p] != contracts.FromSaid {
			text += " (" + strings.ReplaceAll(string(in.Said.Values[p]), "_", " ") + ")"
		}
		values = append(values, chat.Escape(text))
	}
	line := "I understood: " + chat.Escape(contracts.CleanSummary(name))
	if len(values) > 0 {
		line += " – " + strings.Join(values, "; ")
	}
	return line
}

// Explains tells whether every word of a text is a value or a word of the
// capability. Words of up to three letters, such as articles, count for nothing.
func Explains(entry *contracts.CapabilityEntry, text string, evidence map[string]contracts.Evidence) bool {
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
		if len([]rune(word)) > 3 && !strings.Contains(own, strings.ToLower(word)) {
			return false
		}
	}
	return true
}
