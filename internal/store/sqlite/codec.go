package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// nanos is how a time is stored: in nanoseconds since 1970, 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// stamp is the opposite of nanos.
func stamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// moment is stamp for times that may be missing.
func moment(n int64) *time.Time {
	if n == 0 {
		return nil
	}
	t := stamp(n)
	return &t
}

// encode gives the JSON of a value as it is stored.
func encode(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", contracts.Errorf(contracts.CodeInvalid, "encode a %T: %w", v, err)
	}
	return string(raw), nil
}

// encodeAll encodes a list.
func encodeAll[T any](items []T) ([]string, error) {
	bodies := make([]string, 0, len(items))
	for _, item := range items {
		body, err := encode(item)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bodies, nil
}

// decode reads what encode wrote.
func decode[T any](body string) (T, error) {
	var v T
	if err := contracts.Decode([]byte(body), &v); err != nil {
		return v, contracts.Errorf(contracts.CodeInternal, "decode a stored %T: %w", v, err)
	}
	return v, nil
}

// hashPrefix is how references to artifacts begin; 64 hex digits follow.
const hashPrefix = "sha256:"

// bareHash is the hash without the prefix that references carry.
func bareHash(sha256 string) string { return strings.TrimPrefix(sha256, hashPrefix) }

// namedIn finds the artifacts that stored JSON names.
func namedIn(bodies ...string) []string {
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

// list makes a JSON list, for "IN (SELECT value FROM json_each(?))".
func list[T ~string | ~int](items []T) (string, error) {
	raw, err := json.Marshal(items)
	if err != nil {
		return "", fmt.Errorf("encode a list: %w", err)
	}
	return string(raw), nil
}
