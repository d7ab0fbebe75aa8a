package domainkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// mergeHints merges a hints file into the manifest that the code declares. A value given by both
// must be equal in both, except in schemas, which the hints patch.
func mergeHints(code, hints []byte) ([]byte, error) {
	var known contracts.Manifest // hints have the keys of a manifest
	if err := contracts.DecodeStrict(hints, &known); err != nil {
		return nil, err
	}
	base, err := parseObject(code)
	if err != nil {
		return nil, err
	}
	extra, err := parseObject(hints)
	if err != nil {
		return nil, err
	}
	m := &merger{}
	m.manifest(base, extra)
	if len(m.faults) > 0 {
		return nil, contracts.Invalid("code and hints do not agree", m.faults...)
	}
	return json.Marshal(base)
}

func parseObject(raw []byte) (*object, error) {
	v, err := parseOrdered(raw)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("a JSON object is expected")
	}
	return o, nil
}

// merger collects every fault instead of stopping at the first.
type merger struct{ faults []contracts.Fault }

func (m *merger) fault(pointer, format string, args ...any) {
	m.faults = append(m.faults, contracts.Fault{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

func (m *merger) manifest(base, hints *object) {
	for _, part := range hints.members {
		if part.name != "capabilities" {
			m.value(base, part, "/"+contracts.EscapeToken(part.name))
			continue
		}
		list, ok := part.value.([]any)
		if !ok {
			continue // null
		}
		for i, item := range list {
			m.capability(base, item, "/capabilities/"+strconv.Itoa(i))
		}
	}
}

func (m *merger) capability(base *object, item any, pointer string) {
	hint, ok := item.(*object)
	if !ok {
		m.fault(pointer, "a capability is an object with a name")
		return
	}
	name, _ := hint.get("name")
	target := namedCapability(base, name)
	if target == nil {
		m.fault(pointer+"/name", "the code has no capability %v", name)
		return
	}
	for _, part := range hint.members {
		switch part.name {
		case "schema", "output_schema":
			target.patch(&object{members: []member{part}})
		default:
			m.value(target, part, pointer+"/"+contracts.EscapeToken(part.name))
		}
	}
}

func namedCapability(base *object, name any) *object {
	v, _ := base.get("capabilities")
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	at := slices.IndexFunc(list, func(item any) bool {
		o, ok := item.(*object)
		if !ok {
			return false
		}
		own, _ := o.get("name")
		return own == name
	})
	if at < 0 {
		return nil
	}
	o, _ := list[at].(*object) // IndexFunc only finds objects
	return o
}

// value merges one member; objects are merged recursively.
func (m *merger) value(target *object, hint member, pointer string) {
	old, present := target.get(hint.name)
	if !present || old == nil {
		target.set(hint.name, hint.value)
		return
	}
	oldObject, isObject := old.(*object)
	newObject, bothObjects := hint.value.(*object)
	if isObject && bothObjects {
		for _, part := range newObject.members {
			m.value(oldObject, part, pointer+"/"+contracts.EscapeToken(part.name))
		}
		return
	}
	if !sameJSON(old, hint.value) {
		m.fault(pointer, "the code says %s; say it in one place", compactJSON(old))
	}
}

func sameJSON(a, b any) bool {
	x, errX := contracts.Canonical(a)
	y, errY := contracts.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func compactJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "something else"
	}
	return contracts.CleanSummary(string(raw))
}
