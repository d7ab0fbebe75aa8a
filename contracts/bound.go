package contracts

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"unicode"
)

// maxMessageChars is the maximum length of ToolError.Message.
const maxMessageChars = 1000

// noReason is the message of a failure without a message.
const noReason = "the domain gave no reason"

// BoundResult enforces the limits of the contract and the output schema of the capability (nil:
// none) on a result. Parts that violate them are dropped and reported as faults; a summary that
// is too long is only cut. A read with a violation fails with an error of type upstream. A
// completed write stays ok; the caller adds the faults to its verdict.
func BoundResult(r ToolResult, writes bool, output *Schema) (ToolResult, []Fault) {
	faults := faultList(r.Malformed)
	r.Malformed = nil
	r.Summary = CleanSummary(r.Summary)
	r.Error = boundError(r.Error)
	r.Facts = boundFacts(r.Facts, &faults)
	r.Artifacts = boundArtifacts(r.Artifacts, &faults)
	if r.OK && output != nil {
		r.Facts = fitFacts(r.Facts, output, &faults)
	}
	if len(faults) > 0 && r.OK && !writes {
		r = brokenAnswer(r, faults)
	}
	return r, faults
}

// brokenAnswer returns the failed result of a read whose answer violates the contract. The raw
// data is kept for debugging.
func brokenAnswer(r ToolResult, faults []Fault) ToolResult {
	broken := Invalid("the answer breaks its contract", faults...)
	return ToolResult{
		Summary: CleanSummary(broken.Error()),
		Data:    r.Data,
		Error:   &ToolError{Type: ErrUpstream, Message: cut(broken.Error(), maxMessageChars), Effect: EffectNone},
	}
}

func boundError(e *ToolError) *ToolError {
	if e == nil {
		return nil
	}
	out := *e
	out.Type = cmp.Or(cut(oneLine(e.Type), 100), ErrInternal)
	out.Message = cmp.Or(cut(oneLine(e.Message), maxMessageChars), noReason)
	if raw, err := json.Marshal(e.Detail); err != nil || len(raw) > MaxFactsBytes {
		out.Detail = nil
	}
	return &out
}

func boundFacts(facts map[string]any, faults *faultList) map[string]any {
	if most, known := mostBytes(facts); len(facts) == 0 || known && most <= MaxFactsBytes {
		return facts
	}
	raw, err := json.Marshal(facts)
	switch {
	case err != nil:
		faults.add("/facts", "are not JSON and were left out")
		return nil
	case len(raw) > MaxFactsBytes:
		faults.add("/facts", "have %d bytes; %d are allowed; left out", len(raw), MaxFactsBytes)
		return nil
	default:
		return facts
	}
}

// mostBytes returns an upper bound of the length of v as JSON without encoding it. known is false
// if v contains types other than those of decoded JSON, or if the bound exceeds MaxFactsBytes.
func mostBytes(v any) (n int, known bool) {
	const scalar, quotes, escaped = 32, 3, 6
	switch v := v.(type) {
	case nil, bool:
		return scalar, true
	case float64:
		return scalar, !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		return quotes + escaped*len(v), true
	case []any:
		for _, item := range v {
			most, known := mostBytes(item)
			if n += most + 1; !known || n > MaxFactsBytes {
				return n, false
			}
		}
		return n + quotes, true
	case map[string]any:
		for name, item := range v {
			most, known := mostBytes(item)
			if n += most + escaped*len(name) + quotes + 1; !known || n > MaxFactsBytes {
				return n, false
			}
		}
		return n + quotes, true
	default:
		return 0, false
	}
}

func boundArtifacts(artifacts map[string]json.RawMessage, faults *faultList) map[string]json.RawMessage {
	var kept map[string]json.RawMessage
	for _, name := range sortedKeys(artifacts) {
		switch raw := artifacts[name]; {
		case len(raw) > MaxArtifactBytes:
			faults.add(child("/artifacts", name), "has %d bytes; %d are allowed; left out", len(raw), MaxArtifactBytes)
		case !json.Valid(raw):
			faults.add(child("/artifacts", name), "is not JSON and was left out")
		default:
			if kept == nil {
				kept = make(map[string]json.RawMessage, len(artifacts))
			}
			kept[name] = raw
		}
	}
	return kept
}

// fitFacts drops the facts that violate the output schema. It drops whole top-level members, so
// that one wrong value does not discard the others.
func fitFacts(facts map[string]any, output *Schema, faults *faultList) map[string]any {
	norm := facts
	if norm == nil {
		norm = map[string]any{}
	}
	wrong := output.Validate(norm)
	if len(wrong) == 0 {
		return facts
	}
	norm = maps.Clone(norm)
	faults.addAt("/facts", wrong)
	for _, f := range wrong {
		if f.Pointer == "" {
			continue // a missing fact leaves nothing to drop
		}
		name, _, _ := strings.Cut(f.Pointer[1:], "/")
		delete(norm, UnescapeToken(name))
	}
	return norm
}

// oneLine converts any text to one line. White space, control characters, line and paragraph
// separators and bidirectional controls become spaces; runs of spaces are collapsed.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}
