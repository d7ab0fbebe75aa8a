package contracts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxFaults is the maximum number of faults in one error: enough to repair a file, too few to
// flood a log.
const maxFaults = 100

// faultList collects faults up to maxFaults.
type faultList []Fault

func (l *faultList) add(pointer, format string, args ...any) {
	if len(*l) < maxFaults {
		*l = append(*l, Fault{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
	}
}

// addAt adds faults whose pointers are relative to pointer.
func (l *faultList) addAt(pointer string, faults []Fault) {
	for _, f := range faults {
		l.add(pointer+f.Pointer, "%s", f.Message)
	}
}

// child returns the JSON pointer of a member (by name) or an element (by index) below pointer.
func child(pointer string, token any) string {
	switch token := token.(type) {
	case string:
		return pointer + "/" + EscapeToken(token)
	case int:
		return pointer + "/" + strconv.Itoa(token)
	default:
		return fmt.Sprintf("%s/%v", pointer, token)
	}
}

// EscapeToken returns a name as one token of a JSON pointer (RFC 6901).
func EscapeToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// UnescapeToken is the inverse of EscapeToken.
func UnescapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// tree parses one JSON text into maps, lists and json.Number, and reports faults by location.
// Nesting beyond MaxJSONDepth, syntax errors and trailing data end the parse; duplicate keys and
// numbers out of range are collected.
type tree struct {
	dec    *json.Decoder
	faults faultList
}

func parseTree(data []byte) (any, []Fault) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, []Fault{{Message: syntaxMessage(err)}}
	}
	if depth := depthOf(data); depth > MaxJSONDepth {
		return nil, []Fault{{Message: fmt.Sprintf("is nested %d levels deep; %d are allowed", depth, MaxJSONDepth)}}
	}
	t := &tree{dec: json.NewDecoder(bytes.NewReader(data))}
	t.dec.UseNumber()
	v, err := t.value("")
	if err != nil {
		return nil, []Fault{{Message: syntaxMessage(err)}}
	}
	return v, t.faults
}

func syntaxMessage(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("is not JSON: %s at byte %d", syntax, syntax.Offset)
	}
	if errors.Is(err, io.EOF) {
		return "is not JSON: it is empty"
	}
	return "is not JSON: " + err.Error()
}

func (t *tree) value(pointer string) (any, error) {
	token, err := t.dec.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return t.object(pointer)
		}
		return t.list(pointer)
	case json.Number:
		if !inRange(token) {
			t.faults.add(pointer, "the number %.40s is out of range", token)
			return json.Number("0"), nil
		}
		return token, nil
	default:
		return token, nil
	}
}

func (t *tree) object(pointer string) (any, error) {
	members := map[string]any{}
	for t.dec.More() {
		token, err := t.dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("key %v is no string", token)
		}
		at := child(pointer, name)
		if _, twice := members[name]; twice {
			t.faults.add(at, "the key stands here twice")
		}
		if members[name], err = t.value(at); err != nil {
			return nil, err
		}
	}
	_, err := t.dec.Token()
	return members, err
}

func (t *tree) list(pointer string) (any, error) {
	items := []any{}
	for t.dec.More() {
		item, err := t.value(child(pointer, len(items)))
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := t.dec.Token()
	return items, err
}

func inRange(n json.Number) bool {
	f, err := strconv.ParseFloat(string(n), 64)
	return err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// depthOf returns the nesting depth of a JSON text.
func depthOf(data []byte) int {
	depth, deepest := 0, 0
	inString, escaped := false, false
	for _, b := range data {
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			depth++
			deepest = max(deepest, depth)
		case b == '}' || b == ']':
			depth--
		}
	}
	return deepest
}

// sortedKeys returns the sorted keys of a map, so that faults are reported in a fixed order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
