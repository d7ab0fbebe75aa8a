package llm

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// What holds a model back. docs/models.md has the same table.
//
//	it proposes                                   and                                     then
//	a read                                        it fits schema, role and phase          it runs
//	a write that has a gate                                                               its gate opens; each value shows its source
//	a write that has no gate                      the local reader reads the same         it runs
//	                                              it does not                             the asker confirms it
//	any write                                     the words forbid, take back, suppose,   the asker is asked first
//	                                              report or ask about it, or except it
//	an irreversible write, or one of high risk    a value that says which thing or how    that value is asked for
//	                                              much stands nowhere
//	what was not offered, or does not fit                                                 it is mended once, then the local reading stands

// restrain asks the person first where a rule holds a write of the intents back.
func (m *message) restrain(ctx context.Context, u *intent.Understanding) error {
	if m.goesOn() {
		m.hold(u, func(i int) string { return u.Intents[i].ID })
		return nil
	}
	for i, c := range m.calls {
		if !c.entry.Policy.SideEffectClass.Writes() {
			continue
		}
		if why := m.local.Restrains(m.req, c.entry, c.evidence, false); why != "" {
			m.confirm(u, i, fmt.Sprintf("%s: %s, so nothing was done. Do you want it done: %s?", quote(m.req.Message), why, describe(c)))
			return nil
		}
	}
	for i, c := range m.calls {
		if !c.entry.Policy.SideEffectClass.Writes() || c.entry.Policy.ApprovalRequired {
			continue
		}
		same, err := m.readAlike(ctx)
		if err != nil {
			return err
		}
		if !same {
			m.confirm(u, i, fmt.Sprintf("Shall I do this: %s?", describe(c)))
		}
		return nil
	}
	return nil
}

// restrainDraft does the same for the writes of a draft. Its steps keep conditions.
func (m *message) restrainDraft(ctx context.Context, u *intent.Understanding) error {
	if m.goesOn() {
		m.hold(u, func(i int) string { return u.Draft.Steps[i].ID })
		return nil
	}
	for i, c := range m.calls {
		if !c.entry.Policy.SideEffectClass.Writes() {
			continue
		}
		question := ""
		if why := m.local.Restrains(m.req, c.entry, c.evidence, true); why != "" {
			question = fmt.Sprintf("%s: %s, so nothing was done. Do you want it done: %s?", quote(m.req.Message), why, describe(c))
		} else if !c.entry.Policy.ApprovalRequired {
			same, err := m.sameCalls(ctx, u.Draft)
			if err != nil {
				return err
			}
			if !same {
				question = fmt.Sprintf("Shall I do this: %s?", describe(c))
			}
		}
		if question != "" {
			u.Outcome, u.Unclear, u.Question = contracts.ReadingUnclear, u.Draft.Steps[i].ID, question
			u.Choices = []contracts.Alternative{alternative(c.entry)}
			return nil
		}
	}
	return nil
}

// sameCalls reports whether a draft is no more than the calls that the local reader reads.
func (m *message) sameCalls(ctx context.Context, d *contracts.Draft) (bool, error) {
	for _, s := range d.Steps {
		if s.When != "" || s.ForEach != "" || len(s.DependsOn) > 0 || refers(s.Params) {
			return false, nil
		}
	}
	return m.readAlike(ctx)
}

// confirm makes an understanding a question about one of its intents; yes does them all.
func (m *message) confirm(u *intent.Understanding, i int, question string) {
	u.Outcome, u.Unclear, u.Question = contracts.ReadingUnclear, u.Intents[i].ID, question
	u.Choices = []contracts.Alternative{alternative(m.calls[i].entry)}
}

func alternative(e *contracts.CapabilityEntry) contracts.Alternative {
	return contracts.Alternative{Domain: e.Domain, Capability: e.Capability.Name, Description: e.Capability.Description, Confidence: confidence}
}

// readAlike reports whether the local reader accepts the message and reads the same calls.
func (m *message) readAlike(ctx context.Context) (bool, error) {
	req := m.req
	req.Local = true
	u, err := m.local.Understand(ctx, req)
	if err != nil || u.Outcome != contracts.ReadingAccepted || len(u.Unused) > 0 || len(u.Intents) != len(m.calls) {
		return false, err
	}
	for i, c := range m.calls {
		if u.Intents[i].Ref() != c.entry.Ref() || !reflect.DeepEqual(u.Intents[i].Parameters, c.values) {
			return false, nil
		}
	}
	return true, nil
}

// withhold takes values out of a grave write that say which thing or how much and stand
// nowhere, and gives the names of those that must be asked for. In a further round they
// are shown to the requester instead: they may be worked out of what was read.
func (m *message) withhold(c *call) []string {
	if m.goesOn() {
		return nil
	}
	missing := unstated(*c)
	for _, name := range missing {
		delete(c.values, name)
		delete(c.from, name)
	}
	return missing
}

// unstated names the values of a grave write that say which thing or how much and stand
// nowhere.
func unstated(c call) []string {
	p := c.entry.Policy
	grave := p.SideEffectClass == contracts.ClassWriteIrreversible || p.RiskLevel.Rank() >= contracts.RiskHigh.Rank()
	if !p.SideEffectClass.Writes() || !grave {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if c.from[name] == contracts.FromModel && slices.Contains(c.entry.View().Required, name) && identifies(c.entry, name, c.values[name]) {
			out = append(out, name)
		}
	}
	return out
}

// proseWords is from how many words on a text is prose, and names nothing.
const proseWords = 4

// identifies reports whether a value says which thing or how much. Prose does not, and
// neither do yes and no.
func identifies(entry *contracts.CapabilityEntry, name string, v any) bool {
	switch v := v.(type) {
	case string:
		return lookedUp(entry, name) || len(strings.Fields(v)) < proseWords && !isTime(v)
	case bool:
		return false
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return identifies(entry, name, item) })
	}
	return true
}

// isTime tells a date, or a time of a day: when, not which or how much.
func isTime(v string) bool {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, time.RFC3339, "2006-01-02T15:04", "15:04"} {
		if _, err := time.Parse(layout, v); err == nil {
			return true
		}
	}
	return false
}

// source finds where each value of a call comes from.
func (m *message) source(c *call) {
	c.evidence = m.local.Locate(c.entry, m.req.Message, m.now, c.values)
	c.from = make(map[string]contracts.Provenance, len(c.values))
	schema, _ := c.entry.Input()
	for name, v := range c.values {
		c.from[name] = contracts.FromModel
		switch _, said := c.evidence[name]; {
		case said:
			c.from[name] = contracts.FromUtterance
		case isDefault(schema, name, v):
			c.from[name] = contracts.FromDefault
		case m.earlier(v):
			c.from[name] = contracts.FromCarried
		case m.found(v):
			c.from[name] = contracts.FromLookup
		}
	}
}

func isDefault(schema *contracts.Schema, name string, v any) bool {
	if schema == nil {
		return false
	}
	property, ok := schema.Property(name)
	if !ok {
		return false
	}
	usual := property.View().Default
	return usual != nil && reflect.DeepEqual(usual, v)
}

// earlier reports whether a value stands in the conversation before the message, or in what
// is open. Of a list, all items must.
func (m *message) earlier(v any) bool {
	if items, ok := v.([]any); ok {
		return len(items) > 0 && !slices.ContainsFunc(items, func(item any) bool { return !m.earlier(item) })
	}
	words := strings.ToLower(fmt.Sprint(v))
	if len(words) == 0 {
		return false
	}
	for _, e := range m.req.Earlier {
		if hasWords(e.UserMessage, words) || hasWords(e.Answered, words) {
			return true
		}
	}
	for _, o := range m.req.Open {
		if hasWords(o.Prompt, words) || slices.ContainsFunc(slices.Collect(maps.Values(o.Values)), func(known any) bool { return strings.EqualFold(fmt.Sprint(known), words) }) {
			return true
		}
	}
	return false
}

// found reports whether a value stands in the results of earlier steps. Of a list, all items
// must.
func (m *message) found(v any) bool {
	if items, ok := v.([]any); ok {
		return len(items) > 0 && !slices.ContainsFunc(items, func(item any) bool { return !m.found(item) })
	}
	number, isNumber := v.(float64)
	words := oneSpaced(strings.ToLower(fmt.Sprint(v)))
	return words != "" && slices.ContainsFunc(m.req.Results, func(r intent.Result) bool {
		return hasWords(oneSpaced(r.Summary), words) || hasWords(oneSpaced(escapes.Replace(r.Facts.String())), words) ||
			isNumber && (hasNumber(r.Summary, number) || hasNumber(r.Facts.String(), number))
	})
}

// escapes are how JSON writes what is between words.
var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`)

func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// numbers are what may be a number in a text, with marks between its digits.
var numbers = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// hasNumber reports whether a text holds a number, however it is written.
func hasNumber(text string, number float64) bool {
	for _, written := range numbers.FindAllString(text, -1) {
		if f, err := strconv.ParseFloat(strings.ReplaceAll(written, ",", ""), 64); err == nil && f == math.Abs(number) {
			return true
		}
	}
	return false
}

// hasWords reports whether a text holds words, not as a part of others.
func hasWords(text, words string) bool {
	text = strings.ToLower(text)
	for at := 0; ; {
		i := strings.Index(text[at:], words)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(words)
		if (from == 0 || !letter(text[from-1])) && (to == len(text) || !letter(text[to])) {
			return true
		}
		at = from + 1
	}
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80
}

// maxQuote bounds how much of a message a question repeats.
const maxQuote = 80

func quote(s string) string {
	s = contracts.CleanSummary(s)
	if r := []rune(s); len(r) > maxQuote {
		s = string(r[:maxQuote]) + "…"
	}
	return "“" + s + "”"
}

// describe is a call for a person who is asked about it.
func describe(c call) string {
	d, _, _ := strings.Cut(contracts.CleanSummary(c.entry.Capability.Description), ". ")
	parts := make([]string, 0, len(c.values))
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		parts = append(parts, fmt.Sprintf("%s %v", strings.ReplaceAll(name, "_", " "), c.values[name]))
	}
	out := fmt.Sprintf("%s (%s)", strings.TrimRight(d, ". "), c.entry.Ref())
	if len(parts) > 0 {
		out += ", with " + contracts.CleanSummary(strings.Join(parts, ", "))
	}
	return out
}
