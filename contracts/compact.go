package contracts

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Compact is a text that may reach a prompt. It can only be made by the
// functions of this file, each of which bounds it and says what it takes, so
// that raw output, artifacts and whole flows cannot get there.
type Compact struct{ text string }

// MaxCompactBytes bounds one Compact; what a whole prompt may hold is bounded
// where prompts are made.
const MaxCompactBytes = MaxFactsBytes

// CompactWords takes what a person wrote, cut to the length of a message.
func CompactWords(said string) Compact { return Compact{text: cut(said, MaxMessageChars)} }

// CompactSkill takes Markdown of a manifest's skills. A manifest is admitted
// with its own bounds; here one skill is bounded alone.
func CompactSkill(markdown string) (Compact, error) {
	if len(markdown) > MaxCompactBytes {
		return Compact{}, Errorf(CodeTooLarge, "the skill has %d bytes, at most %d can be given to a model", len(markdown), MaxCompactBytes)
	}
	return Compact{text: markdown}, nil
}

// CompactFacts takes a value of bounded facts as canonical JSON. A value that
// holds a reference to an artifact or is larger than facts may be is refused:
// what is that large is summarised by a capability, never sent whole.
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

// JoinCompact puts texts together that may each reach a prompt.
func JoinCompact(separator string, parts ...Compact) Compact {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.text
	}
	return Compact{text: strings.Join(texts, separator)}
}

// String returns the text.
func (c Compact) String() string { return c.text }

// artifactIn finds the first reference to an artifact in plain JSON values.
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
