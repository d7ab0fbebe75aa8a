package flow

import (
	"bytes"
	"encoding/json"
	"slices"
)

// member is one key and its value inside an object's bytes.
type member struct {
	key string
	// start is where the key begins, from and to enclose the value.
	start, from, to int
}

// members lists what stands directly in an object. The bytes must have passed
// checkJSON; anything but an object has no members.
func members(object []byte) []member {
	s := scanner{src: object}
	s.space()
	if s.peek() != '{' {
		return nil
	}
	s.pos++
	s.space()
	out := make([]member, 0, 16) // most objects of a flow have fewer
	for s.peek() == '"' {
		m := member{start: s.pos}
		s.jumpText()
		m.key = unquote(object[m.start:s.pos])
		s.space()
		s.pos++ // the colon
		s.space()
		m.from = s.pos
		s.jump()
		m.to = s.pos
		out = append(out, m)
		s.space()
		s.pos++ // a comma or the end
		s.space()
	}
	return out
}

// elements gives the bytes of each element of an array. The bytes must have
// passed checkJSON; anything but an array has no elements.
func elements(array []byte) [][]byte {
	var out [][]byte
	for _, span := range spans(array) {
		out = append(out, array[span.from:span.to])
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

// jump goes behind one value of checked JSON without looking into it.
func (s *scanner) jump() {
	switch s.peek() {
	case '"':
		s.jumpText()
	case '{', '[':
		s.jumpNested()
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

func (s *scanner) jumpNested() {
	depth := 0
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case '"':
			s.jumpText()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.pos++
		if depth == 0 {
			return
		}
	}
}

// jumpText looks for the next quote that no backslash escapes.
func (s *scanner) jumpText() {
	for from := s.pos + 1; ; {
		i := bytes.IndexByte(s.src[from:], '"')
		if i < 0 {
			s.pos = len(s.src)
			return
		}
		end := from + i
		escapes := 0
		for s.src[end-1-escapes] == '\\' {
			escapes++
		}
		if s.pos, from = end+1, end+1; escapes%2 == 0 {
			return
		}
	}
}

// unquote gives the text of a JSON string. What is no string gives "".
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

// get gives the bytes of the value at a path of keys. Of a key that stands
// twice the last one counts, as in JavaScript.
func get(raw []byte, path ...string) (value []byte, ok bool) {
	for _, key := range path {
		if raw, ok = find(raw, key); !ok {
			return nil, false
		}
	}
	return raw, true
}

// find looks for one key. It is what the package does most, so it makes
// nothing.
func find(object []byte, key string) (value []byte, ok bool) {
	s := scanner{src: object}
	s.space()
	if s.peek() != '{' {
		return nil, false
	}
	s.pos++
	s.space()
	for s.peek() == '"' {
		start := s.pos
		s.jumpText()
		found := isKey(object[start:s.pos], key)
		s.space()
		s.pos++ // the colon
		s.space()
		from := s.pos
		s.jump()
		if found {
			value, ok = object[from:s.pos], true
		}
		s.space()
		s.pos++ // a comma or the end
		s.space()
	}
	return value, ok
}

func isKey(raw []byte, key string) bool {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return unquote(raw) == key
	}
	return string(raw[1:len(raw)-1]) == key
}

// set replaces the value at a path of keys, or adds it at the end of the
// object; objects that are missing on the way are made. All other bytes stay.
func set(raw, value []byte, path ...string) []byte {
	if len(path) == 0 {
		return value
	}
	all := members(raw)
	for _, m := range slices.Backward(all) {
		if m.key == path[0] {
			return splice(raw, m.from, m.to, set(raw[m.from:m.to], value, path[1:]...))
		}
	}
	inner := value
	if len(path) > 1 {
		inner = set([]byte("{}"), value, path[1:]...)
	}
	return appendMember(raw, all, path[0], inner)
}

// appendMember adds a member the way the last two were written, so that a
// pretty-printed object stays one.
func appendMember(raw []byte, all []member, key string, value []byte) []byte {
	item := slices.Concat(encode(key), []byte(":"), value)
	if len(all) == 0 {
		open := bytes.IndexByte(raw, '{')
		if open < 0 {
			return slices.Concat([]byte("{"), item, []byte("}"))
		}
		return splice(raw, open+1, open+1, item)
	}
	last := all[len(all)-1]
	gap := raw[bytes.IndexByte(raw, '{')+1 : all[0].start]
	return splice(raw, last.to, last.to, slices.Concat([]byte(","), gap, item))
}

func splice(raw []byte, from, to int, value []byte) []byte {
	return slices.Concat(raw[:from], value, raw[to:])
}

// encode writes a value the way JavaScript's JSON.stringify does: compact, and
// with <, > and & as they are. What cannot be written is null; all that this
// package encodes was JSON before.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// compact writes checked JSON without white space between its parts.
func compact(raw []byte) []byte {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return raw
	}
	return buf.Bytes()
}
