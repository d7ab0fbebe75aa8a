package workday

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// marker returns the marker of a key. It is written into the comments of a write, the only free
// text that Workday returns, to recognize the write later. It is a hash, because keys may contain
// more than people should see.
func marker(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return "op:" + hex.EncodeToString(sum[:8])
}

// mark appends the marker to a comment, with notes about what cannot be read from the tenant later.
func mark(comment, key string, notes ...string) string {
	tag := marker(key)
	if tag == "" {
		return comment
	}
	tag = "[" + strings.Join(append([]string{tag}, notes...), " ") + "]"
	if comment == "" {
		return tag
	}
	return comment + " " + tag
}

// marked reports whether a comment has the marker of a key.
func marked(comment, key string) bool {
	tag := marker(key)
	return tag != "" && strings.Contains(comment, "["+tag)
}

// hasMark reports whether a comment has a marker of any key.
func hasMark(comment string) bool { return strings.Contains(comment, "[op:") }

// notes returns the notes that mark wrote after the marker.
func notes(comment, key string) []string {
	_, rest, found := strings.Cut(comment, "["+marker(key))
	if !found {
		return nil
	}
	inner, _, _ := strings.Cut(rest, "]")
	return strings.Fields(inner)
}
