package contracts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the canonical JSON of v according to RFC 8785: members sorted by UTF-16 code
// units, no white space, numbers as ECMAScript formats them. The only deviation is that integers
// from 2^53 keep their digits, so that distinct ids never collide.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	return canonical(raw)
}

// CanonicalBytes returns the canonical form of one JSON text. It returns an error if raw is not
// valid JSON.
func CanonicalBytes(raw []byte) ([]byte, error) {
	if !json.Valid(raw) {
		var v any
		return nil, fmt.Errorf("canonical json: %w", json.Unmarshal(raw, &v))
	}
	return canonical(raw)
}

// canonical is CanonicalBytes for a text that is known to be valid.
func canonical(raw []byte) ([]byte, error) {
	w := canonicalWriter{src: raw, dst: make([]byte, 0, len(raw))}
	err := w.value()
	return w.dst, err
}

// Hash returns the SHA-256 of the canonical JSON of v in lower-case hex.
func Hash(v any) (string, error) {
	b, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return HashBytes(b), nil
}

// HashBytes returns the SHA-256 of b in lower-case hex.
func HashBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// compareUTF16 compares two UTF-8 strings by UTF-16 code units, as ECMAScript does. The order
// differs from byte order only between surrogate pairs and U+E000 to U+FFFF.
func compareUTF16(a, b []byte) int {
	if isASCII(a) && isASCII(b) {
		return bytes.Compare(a, b)
	}
	return slices.Compare(utf16.Encode(bytes.Runes(a)), utf16.Encode(bytes.Runes(b)))
}

func isASCII(s []byte) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendNumber(dst []byte, n json.Number) ([]byte, error) {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("canonical json: number %.40s is out of range", n)
	}
	if math.Abs(f) >= 1<<53 && isInteger(string(n)) {
		return append(dst, n...), nil
	}
	return appendFloat(dst, f), nil
}

// appendFloat appends f as ECMAScript's Number::toString formats it.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	text := strconv.AppendFloat(nil, f, 'e', -1, 64)
	// Go writes e+07 and e-07 where ECMAScript writes e+7 and e-7.
	if n := len(text); n >= 4 && text[n-4] == 'e' && text[n-2] == '0' {
		text = append(text[:n-2], text[n-1])
	}
	return append(dst, text...)
}

const hexDigits = "0123456789abcdef"

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\b':
			dst = append(dst, '\\', 'b')
		case r == '\f':
			dst = append(dst, '\\', 'f')
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&0xf])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
