package domainkit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object that keeps the order of its members: the properties of an output schema
// are displayed in the order of the Go fields.
type object struct{ members []member }

type member struct {
	name  string
	value any
}

func (o *object) get(name string) (any, bool) {
	for _, m := range o.members {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

func (o *object) set(name string, value any) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members[i].value = value
			return
		}
	}
	o.members = append(o.members, member{name, value})
}

func (o *object) remove(name string) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members = append(o.members[:i], o.members[i+1:]...)
			return
		}
	}
}

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			buf.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, fmt.Errorf("name of member %q: %w", m.name, err)
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", m.name, err)
		}
		buf.Write(name)
		buf.WriteByte(':')
		buf.Write(value)
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// parseOrdered decodes one JSON value; objects become *object.
func parseOrdered(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := readValue(dec)
	if err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

func readValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("read json: %w", err)
	}
	switch token {
	case json.Delim('{'):
		return readObject(dec)
	case json.Delim('['):
		return readArray(dec)
	default:
		return token, nil
	}
}

func readObject(dec *json.Decoder) (*object, error) {
	o := &object{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read json: %w", err)
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("read json: unexpected %v", token)
		}
		value, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		o.set(name, value)
	}
	_, err := dec.Token()
	return o, err
}

func readArray(dec *json.Decoder) ([]any, error) {
	items := []any{}
	for dec.More() {
		item, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := dec.Token()
	return items, err
}

// patch merges p into o as RFC 7396 does: null removes a member, objects are merged, any other
// value replaces.
func (o *object) patch(p *object) {
	for _, m := range p.members {
		if m.value == nil {
			o.remove(m.name)
			continue
		}
		change, isObject := m.value.(*object)
		if !isObject {
			o.set(m.name, m.value)
			continue
		}
		old, _ := o.get(m.name)
		target, ok := old.(*object)
		if !ok {
			target = &object{}
			o.set(m.name, target)
		}
		target.patch(change)
	}
}
