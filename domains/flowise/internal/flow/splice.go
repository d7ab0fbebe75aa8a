package flow

import (
	"bytes"
	"encoding/json"
	"slices"
)

// member is one key and its value in an object's bytes.
type member struct {
	key string
	// start is the position of the key; from and to enclose the value.
	start, from, to int
}

// cursor iterates over the members of an object. The bytes must have passed checkJSON. Any other
// value has no members.
type cursor struct {
	scanner
	// key is the raw key with its quotes; start is its position, from and to enclose the value.
	key             []byte
	start, from, to int
}

func over(object []byte) cursor {
	c := cursor{scanner: scanner{src: object}}
	c.space()
	if c.peek() != '{' {
		c.pos = len(object)
	}
	return c
}

// next advances to the next member, if there is one.
func (c *cursor) next() bool {
	c.pos++ // the brace or comma before it
	c.space()
	if c.peek() != '"' {
		return false
	}
	c.start = c.pos
	c.pos = textEnd(c.src, c.pos)
	c.key = c.src[c.start:c.pos]
	c.space()
	c.pos++ // the colon
	c.space()
	c.from = c.pos
	c.jump()
	c.to = c.pos
	c.space()
	return true
}

func (c *cursor) value() []byte { return c.src[c.from:c.to:c.to] }

// is reports whether the member has this key.
func (c *cursor) is(key string) bool {
	if bytes.IndexByte(c.key, '\\') >= 0 {
		return unquote(c.key) == key
	}
	return string(c.key[1:len(c.key)-1]) == key
}

// members returns the members of an object.
func members(object []byte) []member {
	out := make([]member, 0, 16) // most objects of a flow have fewer
	for c := over(object); c.next(); {
		out = append(out, member{unquote(c.key), c.start, c.from, c.to})
	}
	return out
}

// elements returns the bytes of each element of an array. The bytes must have passed checkJSON. Any
// other value has no elements.
func elements(array []byte) [][]byte {
	places := spans(array)
	out := make([][]byte, len(places))
	for i, at := range places {
		out[i] = array[at.from:at.to]
	}
	return out
}

type span struct{ from, to int }

func spans(array []byte) []span {
	s := scanner{src: array}
	s.space()
	if s.peek() != '[' {
		return nil
	}
	s.pos++
	s.space()
	var out []span
	for s.pos < len(array) && s.peek() != ']' {
		from := s.pos
		s.jump()
		out = append(out, span{from, s.pos})
		s.space()
		if s.peek() == ',' {
			s.pos++
			s.space()
		}
	}
	return out
}

// jump skips one value of valid JSON.
func (s *scanner) jump() {
	switch s.peek() {
	case '"':
		s.pos = textEnd(s.src, s.pos)
	case '{', '[':
		s.pos = nestedEnd(s.src, s.pos)
	default:
		for s.pos < len(s.src) && !endsScalar(s.src[s.pos]) {
			s.pos++
		}
	}
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ' ', '\t', '\n', '\r', '}', ']':
		return true
	}
	return false
}

// nestedEnd returns the position after an object or array.
func nestedEnd(src []byte, i int) int {
	for depth := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			i = textEnd(src, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(src)
}

// nearText is how many bytes textEnd scans in a loop before it uses bytes.IndexByte: most texts of
// a flow are keys and short values.
const nearText = 24

// textEnd returns the position after a string, that is, after the next unescaped quote.
func textEnd(src []byte, i int) int {
	i++
	for near := min(len(src), i+nearText); i < near; i++ {
		switch src[i] {
		case '"':
			return i + 1
		case '\\':
			i++ // skip the escaped byte
		}
	}
	for i < len(src) {
		at := bytes.IndexByte(src[i:], '"')
		if at < 0 {
			break
		}
		end, escapes := i+at, 0
		for end-1-escapes >= i && src[end-1-escapes] == '\\' {
			escapes++
		}
		if i = end + 1; escapes%2 == 0 {
			return i
		}
	}
	return len(src)
}

// unquote returns the text of a JSON string, or "" for another value.
func unquote(raw []byte) string {
	if len(raw) >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// unescaped re-encodes a value with \u escapes, as other programs write them, in JavaScript's form.
func unescaped(value []byte) []byte {
	if !bytes.Contains(value, []byte(`\u`)) {
		return value
	}
	return encode(decoded(value))
}

// get returns the bytes of the value at a path of keys. Of a duplicate key the last one counts, as
// in JavaScript.
func get(raw []byte, path ...string) (value []byte, ok bool) {
	for _, key := range path {
		if raw, ok = find(raw, key); !ok {
			return nil, false
		}
	}
	return raw, true
}

// find returns the value of one key.
func find(object []byte, key string) (value []byte, ok bool) {
	at, ok := findSpan(object, key)
	return object[at.from:at.to:at.to], ok
}

// findSpan returns the position of one value. It does not allocate, because it is the most frequent
// operation of the package.
func findSpan(object []byte, key string) (at span, ok bool) {
	for c := over(object); c.next(); {
		if c.is(key) {
			at, ok = span{c.from, c.to}, true
		}
	}
	return at, ok
}

// set replaces the value at a path of keys, or appends it to the object; missing objects are
// created. All other bytes stay.
func set(raw, value []byte, path ...string) []byte {
	at := span{0, len(raw)}
	for len(path) > 0 {
		object, key, rest := raw[at.from:at.to], path[0], path[1:]
		inner, ok := findSpan(object, key)
		if !ok {
			for _, missing := range slices.Backward(rest) {
				value = slices.Concat([]byte("{"), encode(missing), []byte(":"), value, []byte("}"))
			}
			return splice(raw, at.from, at.to, appendMember(object, members(object), key, value))
		}
		at, path = span{at.from + inner.from, at.from + inner.to}, rest
	}
	return splice(raw, at.from, at.to, value)
}

// appendMember appends a member in the format of the last two, so that a pretty-printed object
// stays one. A value that is not an object is replaced by one.
func appendMember(raw []byte, all []member, key string, value []byte) []byte {
	item := slices.Concat(encode(key), []byte(":"), value)
	if firstByte(raw) != '{' {
		return slices.Concat([]byte("{"), item, []byte("}"))
	}
	if len(all) == 0 {
		open := bytes.IndexByte(raw, '{')
		return splice(raw, open+1, open+1, item)
	}
	last := all[len(all)-1]
	gap := raw[bytes.IndexByte(raw, '{')+1 : all[0].start]
	return splice(raw, last.to, last.to, slices.Concat([]byte(","), gap, item))
}

func splice(raw []byte, from, to int, value []byte) []byte {
	return slices.Concat(raw[:from], value, raw[to:])
}

// encode encodes a value like JavaScript's JSON.stringify: compact, without escaping <, > and &. A
// value that cannot be encoded becomes null, which does not happen: all values here were JSON
// before.
func encode(v any) []byte {
	if text, is := v.(string); is && isPlain(text) {
		return slices.Concat([]byte(`"`), []byte(text), []byte(`"`))
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// isPlain reports whether a text needs no escapes in JSON.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// compact removes the white space of valid JSON.
func compact(raw []byte) []byte {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return raw
	}
	return buf.Bytes()
}
