// Package stored says how what the core keeps is written in rows: times as
// nanoseconds, values as JSON, and what stands in columns beside it. Every store
// over a database shares it.
package stored

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Nanos is how a time is stored: in nanoseconds since 1970, 0 for none.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Stamp is the opposite of Nanos.
func Stamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Moment is Stamp for times that may be missing.
func Moment(n int64) *time.Time {
	if n == 0 {
		return nil
	}
	t := Stamp(n)
	return &t
}

// Encode returns the JSON of a value as it is stored.
func Encode(v any) (string, error) {
	b, _ := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := json.NewEncoder(b).Encode(v); err != nil {
		return "", contracts.Errorf(contracts.CodeInvalid, "encode a %T: %w", v, err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// buffers are where values are encoded, several for each commit.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // memory that nobody owns

// EncodeAll encodes a list.
func EncodeAll[T any](items []T) ([]string, error) {
	bodies := make([]string, 0, len(items))
	for i := range items {
		body, err := Encode(&items[i])
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bodies, nil
}

// Decode reads what Encode wrote.
func Decode[T any](body string) (T, error) {
	var v T
	if err := contracts.Decode([]byte(body), &v); err != nil {
		return v, contracts.Errorf(contracts.CodeInternal, "decode a stored %T: %w", v, err)
	}
	return v, nil
}

// hashPrefix is how references to artifacts begin; 64 hex digits follow.
const hashPrefix = "sha256:"

// BareHash is the hash without the prefix that references carry.
func BareHash(sha256 string) string { return strings.TrimPrefix(sha256, hashPrefix) }

// NamedIn finds the artifacts that stored JSON names.
func NamedIn(bodies ...string) []string {
	var names []string
	for _, body := range bodies {
		for {
			_, rest, found := strings.Cut(body, hashPrefix)
			if !found {
				break
			}
			if len(rest) >= 64 && strings.Trim(rest[:64], "0123456789abcdef") == "" {
				names = append(names, rest[:64])
			}
			body = rest
		}
	}
	return names
}

// OrTime is a time, or another where there is none.
func OrTime(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		return otherwise
	}
	return t
}

// BytesOf is a content that is never NULL.
func BytesOf(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
