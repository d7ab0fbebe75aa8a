package workday

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A marker is put into the comments of a write, the only text that Workday
// gives back, so that the write can be recognised later. It is a hash of the
// idempotency key: keys may say more than people should read.
func marker(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return "op:" + hex.EncodeToString(sum[:8])
}

// mark writes a comment with the marker and, for what cannot be read back from
// the tenant later, notes.
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

// hasMark reports whether a comment has the marker of any key.
func hasMark(comment string) bool { return strings.Contains(comment, "[op:") }

// notes returns what mark wrote behind the marker.
func notes(comment, key string) []string {
	_, rest, found := strings.Cut(comment, "["+marker(key))
	if !found {
		return nil
	}
	inner, _, _ := strings.Cut(rest, "]")
	return strings.Fields(inner)
}
