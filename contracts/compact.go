package contracts

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Compact is a text that may be sent to a model. Only the functions of this file create one. Each
// of them limits the size and the kind of its input, so that raw output, artifacts and whole
// flows cannot reach a prompt.
type Compact struct{ text string }

// MaxCompactBytes is the maximum size of one Compact. The size of a whole prompt is limited where
// prompts are built.
const MaxCompactBytes = MaxFactsBytes

// CompactWords returns a person's text, cut to MaxMessageChars.
func CompactWords(said string) Compact { return Compact{text: cut(said, MaxMessageChars)} }

// CompactSkill returns the Markdown of a skill. It returns an error of code too_large if the
// skill exceeds MaxCompactBytes.
func CompactSkill(markdown string) (Compact, error) {
	if len(markdown) > MaxCompactBytes {
		return Compact{}, Errorf(CodeTooLarge, "the skill has %d bytes, at most %d can be given to a model", len(markdown), MaxCompactBytes)
	}
	return Compact{text: markdown}, nil
}

// CompactFacts returns the canonical JSON of facts; a string is used unquoted. It returns an
// error if the value contains a reference to an artifact or exceeds MaxCompactBytes. A capability
// must summarise such data; it is never sent whole.
func CompactFacts(value any) (Compact, error) {
	if at, found := artifactIn("", value); found {
		return Compact{}, Errorf(CodeInvalid, "%s is an artifact, which a model never reads; use a capability that gives its summary as facts", orRoot(at))
	}
	if text, ok := value.(string); ok && len(text) <= MaxCompactBytes {
		return Compact{text: text}, nil
	}
	raw, err := Canonical(value)
	if err != nil {
		return Compact{}, fmt.Errorf("facts for a model: %w", err)
	}
	if len(raw) > MaxCompactBytes {
		return Compact{}, Errorf(CodeTooLarge, "the facts have %d bytes, at most %d can be given to a model", len(raw), MaxCompactBytes)
	}
	return Compact{text: string(raw)}, nil
}

// JoinCompact joins texts that may be sent to a model.
func JoinCompact(separator string, parts ...Compact) Compact {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.text
	}
	return Compact{text: strings.Join(texts, separator)}
}

// String returns the text.
func (c Compact) String() string { return c.text }

// artifactIn finds the first artifact reference in a tree of plain JSON values.
func artifactIn(at string, value any) (pointer string, found bool) {
	switch value := value.(type) {
	case ArtifactRef, *ArtifactRef, Opaque, *Opaque, json.RawMessage:
		return at, true
	case map[string]any:
		if _, reference := value["$artifact"]; reference {
			return at, true
		}
		for _, name := range sortedKeys(value) {
			if p, ok := artifactIn(child(at, name), value[name]); ok {
				return p, true
			}
		}
	case []any:
		for i, item := range value {
			if p, ok := artifactIn(child(at, i), item); ok {
				return p, true
			}
		}
	}
	return "", false
}
