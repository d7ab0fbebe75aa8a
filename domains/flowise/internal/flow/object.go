package flow

import (
	"bytes"
	"encoding/json"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// objectBuilder encodes an object member by member, with the keys in the order of the calls.
type objectBuilder struct{ buf bytes.Buffer }

func (b *objectBuilder) add(key string, value []byte) {
	if b.buf.Len() > 0 {
		b.buf.WriteByte(',')
	}
	b.buf.Write(encode(key))
	b.buf.WriteByte(':')
	b.buf.Write(value)
}

func (b *objectBuilder) bytes() []byte {
	out := make([]byte, 0, b.buf.Len()+2)
	out = append(out, '{')
	out = append(out, b.buf.Bytes()...)
	return append(out, '}')
}

// values are the inputs of a node in order.
type values struct {
	keys []string
	raw  map[string][]byte
}

// defaults returns the values of a new node: the default, or "" if there is none or it is falsy in
// JavaScript. If two inputs share a name, the later default counts.
func defaults(def *knowledge.Definition) *values {
	v := &values{raw: map[string][]byte{}}
	for i := range def.Inputs {
		v.put(def.Inputs[i].Name, defaultOf(&def.Inputs[i]))
	}
	return v
}

func defaultOf(p *knowledge.Param) []byte {
	if falsy(p.Default) {
		return []byte(`""`)
	}
	return p.Default
}

// falsy reports whether a value is falsy in JavaScript.
func falsy(raw []byte) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", "0", `""`:
		return true
	}
	return false
}

func (v *values) put(key string, raw []byte) {
	if _, known := v.raw[key]; !known {
		v.keys = append(v.keys, key)
	}
	v.raw[key] = raw
}

func (v *values) bytes() []byte {
	var b objectBuilder
	for _, key := range v.keys {
		b.add(key, v.raw[key])
	}
	return b.bytes()
}

// tree returns the decoded values.
func (v *values) tree() map[string]any {
	out := make(map[string]any, len(v.raw))
	for key, raw := range v.raw {
		out[key] = decoded(raw)
	}
	return out
}

// decoded returns the decoded value, or nil.
func decoded(raw []byte) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}
