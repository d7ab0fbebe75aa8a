// Package stored defines how the stores encode records in rows: times in nanoseconds, values as
// JSON, and some fields as columns. All SQL stores share it.
package stored

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Nanos returns the stored form of a time: nanoseconds since 1970, 0 for the zero time.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Stamp is the inverse of Nanos.
func Stamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Moment is Stamp for optional times.
func Moment(n int64) *time.Time {
	if n == 0 {
		return nil
	}
	t := Stamp(n)
	return &t
}

// Encode returns the stored JSON of a value.
func Encode(v any) (string, error) {
	b, _ := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := json.NewEncoder(b).Encode(v); err != nil {
		return "", contracts.Errorf(contracts.CodeInvalid, "encode a %T: %w", v, err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// buffers are reused by Encode, which is called several times per commit.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // memory that nobody owns

// EncodeAll encodes each item of a list.
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

// Decode is the inverse of Encode.
func Decode[T any](body string) (T, error) {
	var v T
	if err := contracts.Decode([]byte(body), &v); err != nil {
		return v, contracts.Errorf(contracts.CodeInternal, "decode a stored %T: %w", v, err)
	}
	return v, nil
}

// hashPrefix is the prefix of artifact references. It is followed by 64 hex digits.
const hashPrefix = "sha256:"

// BareHash returns the hash of an artifact reference without the prefix.
func BareHash(sha256 string) string { return strings.TrimPrefix(sha256, hashPrefix) }

// NamedIn returns the hashes of the artifacts that stored JSON refers to.
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

// OrTime returns t, or otherwise if t is zero.
func OrTime(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		return otherwise
	}
	return t
}

// BytesOf returns body, or an empty slice instead of nil, which would be stored as NULL.
func BytesOf(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
