package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// prose reports whether a member only describes the node to people, or is a file path of the
// server. Defaults are kept, however long, because the node uses them.
func prose(key string) bool {
	switch key {
	case "description", "placeholder", "hint", "warning", "documentation", "codeExample",
		"deprecateMessage", "icon", "filePath", "loadMethods", "vectorStoreMethods":
		return true
	}
	return false
}

// nested reports whether a member contains definitions. No other member is stripped: a default may
// have a member "description".
func nested(key string) bool {
	switch key {
	case "inputs", "outputs", "credential", "options", "array", "tabs":
		return true
	}
	return false
}

// strip returns one definition without prose, compact, with members in order.
func strip(raw json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if tok != json.Delim('{') {
		return nil, fmt.Errorf("%v is no object", tok)
	}
	out.WriteByte('{')
	for dec.More() {
		key, value, err := member(dec)
		if err != nil {
			return nil, err
		}
		if prose(key) {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		if err := write(&out, key, value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func member(dec *json.Decoder) (string, json.RawMessage, error) {
	tok, err := dec.Token()
	if err != nil {
		return "", nil, err
	}
	key, ok := tok.(string)
	if !ok {
		return "", nil, fmt.Errorf("%v is no name of a member", tok)
	}
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return "", nil, fmt.Errorf("member %q: %w", key, err)
	}
	return key, value, nil
}

func write(out *bytes.Buffer, key string, value json.RawMessage) error {
	name, err := json.Marshal(key)
	if err != nil {
		return err
	}
	out.Write(name)
	out.WriteByte(':')
	if nested(key) {
		if value, err = stripNested(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return json.Compact(out, value)
}

// stripNested strips an object, or the objects of a list.
func stripNested(value json.RawMessage) (json.RawMessage, error) {
	switch {
	case bytes.HasPrefix(value, []byte("{")):
		return strip(value)
	case !bytes.HasPrefix(value, []byte("[")):
		return value, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err != nil {
		return nil, err
	}
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		stripped, err := stripNested(item)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out = append(out, stripped...)
	}
	return append(out, ']'), nil
}
