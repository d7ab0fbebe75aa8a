package slots

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// parse converts a text to a value of the parameter.
func (s *Set) parse(p *param, raw string, now time.Time) (any, bool) {
	if v, ok := s.phraseValue(p, raw); ok {
		return v, true
	}
	if len(p.enum) > 0 && p.kind == "string" {
		return nil, false
	}
	switch p.kind {
	case "boolean":
		return parseBool(raw)
	case "object":
		var v map[string]any
		return v, json.Unmarshal([]byte(raw), &v) == nil
	case "integer", "number":
		e, ok := s.only(raw, values.Number, now)
		if !ok {
			return nil, false
		}
		return p.numberValue(e)
	}
	return s.parseText(p, raw, now)
}

func (s *Set) parseText(p *param, raw string, now time.Time) (any, bool) {
	switch p.format {
	case "date", "date-time":
		e, ok := s.only(raw, values.Date, now)
		return p.dateText(e), ok
	case "time":
		e, ok := s.only(raw, values.Clock, now)
		return e.Time.Format("15:04:05Z07:00"), ok
	case "duration":
		e, ok := s.only(raw, values.Number, now)
		if !ok {
			return nil, false
		}
		return isoDuration(e)
	}
	clean := tokenize.Clean(raw)
	if p.fits(clean) {
		return clean, true
	}
	upper := strings.ToUpper(clean)
	return upper, p.pattern != nil && !p.acceptsWords && p.fits(upper)
}

// only parses a text that is a single entity.
func (s *Set) only(raw string, kind values.Kind, now time.Time) (values.Entity, bool) {
	doc := values.NewDoc(raw, tokenize.Tokens(raw))
	for _, e := range s.tools.Scanner.Scan(doc, now) {
		if e.Kind == kind && !e.Doubt && e.First == 0 && e.Last >= len(doc.Tokens)-2 {
			return e, true
		}
	}
	return values.Entity{}, false
}

// phraseValue returns the known value that the whole text names.
func (s *Set) phraseValue(p *param, raw string) (any, bool) {
	words := tokenize.Phrase(raw)
	if len(words) == 0 {
		return nil, false
	}
	for _, ph := range s.phrases[words[0]] {
		if ph.param == p && slices.Equal(ph.words, words) {
			return ph.value, true
		}
	}
	return nil, false
}

// parseMany parses one value, or several if the parameter takes a list.
func (s *Set) parseMany(p *param, raw string, quoted bool, now time.Time) ([]any, bool) {
	raw = unquote(raw)
	body, bracketed := strings.CutPrefix(raw, "[")
	if p.list == "" || quoted || !bracketed && !strings.Contains(raw, ",") && !strings.Contains(raw, " and ") {
		v, ok := s.parse(p, raw, now)
		return []any{v}, ok
	}
	body = strings.TrimSuffix(body, "]")
	if !bracketed {
		body = strings.ReplaceAll(body, " and ", ",")
	}
	var out []any
	for part := range strings.SplitSeq(body, ",") {
		if part = unquote(part); part == "" {
			continue
		}
		v, ok := s.parse(p, part, now)
		if !ok {
			return nil, false
		}
		if !slices.ContainsFunc(out, func(o any) bool { return equal(o, v) }) {
			out = append(out, v)
		}
	}
	return out, len(out) > 0
}

func unquote(s string) string { return strings.Trim(s, "\"'`“”«» \t") }

func parseBool(raw string) (any, bool) {
	fold := tokenize.Fold(raw)
	on := InClass(fold, lexicon.Yes)
	return on, on || InClass(fold, lexicon.No)
}

func equal(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
