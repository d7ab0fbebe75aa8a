package bridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// factsBudget bounds the part of a result that becomes facts; the whole is an artifact.
const factsBudget = contracts.MaxFactsBytes - (1 << 10)

// Result converts a service's response: a JSON value and a text for people, either of which may be
// absent.
func Result(value any, text string) (contracts.ToolResult, error) {
	facts, ok := value.(map[string]any)
	switch {
	case ok:
	case value == nil:
		facts = map[string]any{"text": text}
	default:
		facts = map[string]any{"items": value}
	}
	raw, err := json.Marshal(facts)
	if err != nil {
		return contracts.ToolResult{}, err
	}
	r := contracts.ToolResult{OK: true, Facts: facts, Summary: contracts.CleanSummary(text)}
	if r.Summary == "" {
		r.Summary = contracts.CleanSummary(cut(raw))
	}
	if len(raw) <= factsBudget {
		return r, nil
	}
	if len(raw) > contracts.MaxArtifactBytes {
		return r, contracts.Errorf(contracts.CodeTooLarge, "the answer has %d bytes, more than %d", len(raw), contracts.MaxArtifactBytes)
	}
	r.Facts = shortened(facts)
	r.Artifacts = map[string]json.RawMessage{"result": raw}
	return r, nil
}

// in replaces the list of a result by the matches of a lookup. It uses the whole list, of which the
// facts may hold only a part.
func (m Matches) in(r *contracts.ToolResult) error {
	facts := r.Facts
	if whole, shortened := r.Artifacts["result"]; shortened {
		facts = nil
		if err := contracts.Decode(whole, &facts); err != nil {
			return err
		}
	}
	holder, name := facts, cmp.Or(m.Items, "items")
	for {
		head, rest, deeper := strings.Cut(name, ".")
		if !deeper {
			break
		}
		holder, _ = holder[head].(map[string]any)
		name = rest
	}
	items, ok := holder[name].([]any)
	if !ok {
		return contracts.Errorf(contracts.CodeInvalid, "the answer has no list %s to search in", cmp.Or(m.Items, "items"))
	}
	matches := []any{}
	for _, item := range items {
		of, _ := item.(map[string]any)
		if of[m.Value] == nil {
			continue
		}
		match := map[string]any{"value": of[m.Value], "label": fmt.Sprint(cmp.Or(of[m.Label], of[m.Value]))}
		if text, ok := of[m.Detail].(string); ok && m.Detail != "" {
			match["detail"] = text
		}
		matches = append(matches, match)
	}
	delete(holder, name)
	facts["matches"] = matches
	r.Facts = facts
	if raw, err := json.Marshal(facts); err != nil || len(raw) > factsBudget {
		r.Facts = shortened(facts)
	}
	return nil
}

// shortened returns the members that fit, smallest first, with lists and texts cut to fit, and lists
// what was omitted.
func shortened(facts map[string]any) map[string]any {
	out, left := map[string]any{}, factsBudget
	var without []string
	sizes := map[string]int{}
	for name, v := range facts {
		raw, _ := json.Marshal(v) // an unencodable value is omitted below
		sizes[name] = len(raw)
	}
	bySize := func(a, b string) int { return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(facts), bySize) {
		kept, size := fitted(facts[name], left-len(name)-4)
		if size < 0 {
			without = append(without, name)
			continue
		}
		out[name], left = kept, left-size-len(name)-4
	}
	out["shortened"] = true
	if len(without) > 0 && len(without) <= 20 {
		out["left_out"] = without
	}
	return out
}

// fitted returns as much of a value as fits, and its size; -1 if nothing does.
func fitted(v any, room int) (any, int) {
	raw, err := json.Marshal(v)
	if err != nil || len(raw) <= room {
		return v, len(raw)
	}
	switch v := v.(type) {
	case string:
		if room < 64 {
			return nil, -1
		}
		kept := v[:min(len(v), room/6)] // JSON escapes a byte with at most six
		return strings.ToValidUTF8(kept, ""), len(kept)*6 + 2
	case []any:
		kept, used := []any{}, 2
		for _, item := range v {
			one, err := json.Marshal(item)
			if err != nil || used+len(one)+1 > room {
				break
			}
			kept, used = append(kept, item), used+len(one)+1
		}
		if len(kept) > 0 {
			return kept, used
		}
	}
	return nil, -1
}
