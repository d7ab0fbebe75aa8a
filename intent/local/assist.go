package local

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// kindModel is the evidence kind of a value from a model whose words are in the message.
const kindModel = "model"

// longestCode is the maximum length of a code.
const longestCode = 5

// Offer returns the capabilities from which a model chooses: those of the conversation, then the
// shortlist, with a share of related reads, which a condition or a text of another step may need
// even if the message does not mention them, and then the rest of the catalog up to the limit.
func (r *Reader) Offer(ctx context.Context, req intent.Request, most int) ([]*contracts.CapabilityEntry, error) {
	q := query(req)
	ranked, err := r.local.Shortlist(ctx, q, math.MaxInt)
	if err != nil {
		return nil, err
	}
	s := &sentenceReader{q: q}
	var out []*contracts.CapabilityEntry
	add := func(e *contracts.CapabilityEntry) {
		if len(out) < most && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	for _, ref := range req.Recent[:min(len(req.Recent), most/4)] {
		if e, ok := req.Catalog.Capability(ref); ok && e.Routable() && s.allowed(&indexed{entry: e}) {
			add(e)
		}
	}
	for _, c := range ranked[:min(len(ranked), most-most/relatedShare)] {
		add(c.Entry)
	}
	var rest []*contracts.CapabilityEntry
	for _, c := range ranked {
		rest = append(rest, c.Entry)
	}
	for _, d := range req.Catalog.Domains {
		for _, e := range d.Capabilities {
			if e.Routable() && s.allowed(&indexed{entry: e}) {
				rest = append(rest, e)
			}
		}
	}
	for _, e := range slices.Concat(relatedReads(ranked, rest, most/relatedShare), rest) {
		add(e)
	}
	return out, nil
}

// relatedReads returns reads of the domains of the first capabilities of a shortlist, round-robin
// over the domains.
func relatedReads(ranked []Ranked, all []*contracts.CapabilityEntry, most int) []*contracts.CapabilityEntry {
	var domains []string
	for _, c := range ranked {
		if len(domains) < relatedDomains && !slices.Contains(domains, c.Entry.Domain) {
			domains = append(domains, c.Entry.Domain)
		}
	}
	var out []*contracts.CapabilityEntry
	for turn := 0; len(out) < most && turn < len(all); turn++ {
		for _, d := range domains {
			reads := slices.DeleteFunc(slices.Clone(all), func(e *contracts.CapabilityEntry) bool {
				return e.Domain != d || e.Policy.SideEffectClass.Writes() || slices.Contains(out, e)
			})
			if len(reads) > 0 {
				out = append(out, reads[0])
			}
		}
	}
	return out
}

// At most one in relatedShare offered capabilities is a related read, from the first
// relatedDomains domains of the shortlist.
const (
	relatedShare   = 3
	relatedDomains = 3
)

// Locate returns the spans of the values of a call in a message. For a list, all items must be
// found. A value that is not found has no evidence.
func (r *Reader) Locate(entry *contracts.CapabilityEntry, message string, now time.Time, values map[string]any) map[string]contracts.Evidence {
	m := r.local.tools.Read(message, now)
	read := r.local.slots(entry).Answer(m, nil)
	at := locator{m: m, read: read}
	out := map[string]contracts.Evidence{}
	for name, v := range values {
		if ev, ok := at.value(name, v); ok {
			out[name] = ev
		}
	}
	return out
}

// locator finds values in one message, with the help of the local slot filling.
type locator struct {
	m    *slots.Message
	read slots.Filled
}

func (l locator) value(name string, v any) (contracts.Evidence, bool) {
	if ev, ok := l.read.Evidence[name]; ok && reflect.DeepEqual(l.read.Values[name], v) {
		return ev, true
	}
	switch v := v.(type) {
	case []any:
		return l.list(v)
	case float64:
		return l.entity(func(e values.Entity) bool { return e.Number == v })
	case string:
		if ev, ok := l.literally(v); ok {
			return ev, true
		}
		if ev, ok := l.date(v); ok {
			return ev, true
		}
		return l.abbreviated(v)
	}
	return contracts.Evidence{}, false
}

func (l locator) list(items []any) (contracts.Evidence, bool) {
	var all contracts.Evidence
	for i, item := range items {
		ev, ok := l.value("", item)
		if !ok {
			return contracts.Evidence{}, false
		}
		if i == 0 {
			all = ev
		}
		all.Span = [2]int{min(all.Span[0], ev.Span[0]), max(all.Span[1], ev.Span[1])}
	}
	return all, len(items) > 0
}

// entity finds a number or a date of the message.
func (l locator) entity(is func(e values.Entity) bool) (contracts.Evidence, bool) {
	for _, e := range l.m.Entities {
		if is(e) {
			return l.tokens(e.First, e.Last+1), true
		}
	}
	return contracts.Evidence{}, false
}

// date finds a date, whichever parameter has it locally.
func (l locator) date(v string) (contracts.Evidence, bool) {
	if len(v) < len(time.DateOnly) {
		return contracts.Evidence{}, false
	}
	if _, err := time.Parse(time.DateOnly, v[:len(time.DateOnly)]); err != nil {
		return contracts.Evidence{}, false
	}
	for name, read := range l.read.Values {
		if s, ok := read.(string); ok && strings.HasPrefix(v, s) && len(s) >= len(time.DateOnly) {
			return l.read.Evidence[name], true
		}
	}
	return l.entity(func(e values.Entity) bool {
		return !e.Time.IsZero() && e.Time.Format(time.DateOnly) == v[:len(time.DateOnly)]
	})
}

// literally finds words in the message, ignoring case and accents.
func (l locator) literally(words string) (contracts.Evidence, bool) {
	sought := tokenize.Tokens(words)
	if len(sought) == 0 {
		return contracts.Evidence{}, false
	}
	for i := 0; i+len(sought) <= len(l.m.Tokens); i++ {
		if slices.EqualFunc(sought, l.m.Tokens[i:i+len(sought)], func(a, b tokenize.Token) bool { return a.Fold == b.Fold }) {
			return l.tokens(i, i+len(sought)), true
		}
	}
	return contracts.Evidence{}, false
}

// abbreviated finds the words that a code abbreviates: "US dollars" for "USD", "Los Angeles" for
// "LA".
func (l locator) abbreviated(code string) (contracts.Evidence, bool) {
	if len(code) < 2 || len(code) > longestCode || strings.ToUpper(code) != code {
		return contracts.Evidence{}, false
	}
	for i := range l.m.Tokens {
		if n := tokenize.Spells(strings.ToLower(code), l.m.Tokens[i:]); n > 1 {
			return l.tokens(i, i+n), true
		}
	}
	return contracts.Evidence{}, false
}

func (l locator) tokens(from, to int) contracts.Evidence {
	return contracts.Evidence{Span: [2]int{l.m.Tokens[from].Start, l.m.Tokens[to-1].End}, Kind: kindModel, P: 0.9}
}
