package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

func (op *SetParam) apply(d *draft) []contracts.Fault {
	n, faults := d.node("/node_id", op.NodeID)
	if n == nil {
		return faults
	}
	return d.setParam(n, op.ParamName, op.Value)
}

// setParam sets one value and its consequences: display marks, parameters of a selected component,
// outputs of a condition.
func (d *draft) setParam(n *draftNode, path string, value []byte) []contracts.Fault {
	steps, ok := parsePath(path)
	if !ok {
		return fault("/param_name", "%q is no path; write a name, or a path such as agentTools[0].agentSelectedTool", path)
	}
	param, problem := n.findParam(steps[0].key)
	if _, choice := n.outputs(); problem != "" && path == "output" && choice {
		return d.chooseOutput(n, unquote(value), "/value")
	}
	if problem != "" {
		return fault("/param_name", "%s", problem)
	}
	if len(value) == 0 {
		value = []byte("null")
	}
	if err := checkJSON(value); err != nil {
		return fault("/value", "the value %s", err)
	}
	if len(steps) == 1 {
		value, problem = d.normalise(&param, compact(value))
		if problem != "" {
			return fault("/value", "%s", problem)
		}
		value = n.overlay(&param, value)
	} else if value, problem = n.inside(steps, compact(value)); problem != "" {
		return fault("/param_name", "%s", problem)
	}
	return d.write(n, &param, value)
}

func (d *draft) write(n *draftNode, param *knowledge.Param, value []byte) []contracts.Fault {
	if faults := d.resizeOutputs(n, param.Name, value); len(faults) > 0 {
		return faults
	}
	value, problem := d.configureItems(param, value)
	if problem != "" {
		return fault("/value", "%s", problem)
	}
	n.set(value, "data", "inputs", param.Name)
	if param.LoadConfig {
		inputs := n.part(partInputs)
		filled, problem := d.configure(inputs, param.Name)
		if problem != "" {
			return fault("/value", "%s", problem)
		}
		n.set(filled, "data", "inputs")
	}
	n.refreshDisplay(param.Name)
	return nil
}

// findParam returns the parameter with a name; of two with the name, the displayed one. A value
// without a description can be set too.
func (n Node) findParam(name string) (param knowledge.Param, problem string) {
	params := n.params()
	var found []knowledge.Param
	for _, f := range params {
		if f.says("name", name) {
			found = append(found, f.decode())
		}
	}
	if len(found) > 1 {
		inputs := n.inputs()
		for i := range found {
			if displayed(&found[i], inputs, noIndex) {
				return found[i], ""
			}
		}
	}
	switch {
	case len(found) > 0 && found[0].Type == "credential":
		return param, name + " is a credential; use BindCredential"
	case len(found) > 0:
		return found[0], ""
	}
	if _, anchor := byName(n.anchors(), name); anchor {
		return param, name + " is an anchor; use Connect"
	}
	if base, config := strings.CutSuffix(name, "Config"); config {
		if f, ok := byName(params, base); ok && f.flag("loadConfig") {
			return knowledge.Param{Name: name, Type: typeConfig}, ""
		}
	}
	if _, held := n.Input(name); held {
		return knowledge.Param{Name: name, Type: typeUnknown}, ""
	}
	known := slices.DeleteFunc(names(params), func(s string) bool { return s == "credential" })
	return param, unknown("parameter of "+n.id, name, known)
}

// Types that only this package uses: the configuration of a selected component, and a value without
// a description.
const (
	typeConfig  = "config"
	typeUnknown = "unknown"
)

// inside replaces a value inside the value of a parameter.
func (n Node) inside(steps []step, value []byte) (whole []byte, problem string) {
	whole, ok := n.Input(steps[0].key)
	if !ok {
		whole = []byte(`""`)
	}
	return replaceAt(whole, value, steps[1:])
}

func replaceAt(whole, value []byte, steps []step) (out []byte, problem string) {
	if len(steps) == 0 {
		return value, ""
	}
	at := steps[0]
	empty := falsy(whole)
	if !at.list {
		if empty {
			whole = []byte("{}")
		}
		if firstByte(whole) != '{' {
			return nil, "there is no object to look for " + at.key + " in"
		}
		old, _ := get(whole, at.key)
		inner, problem := replaceAt(old, value, steps[1:])
		if problem != "" {
			return nil, problem
		}
		return set(whole, inner, at.key), ""
	}
	if empty {
		whole = []byte("[]")
	}
	if firstByte(whole) != '[' {
		return nil, "there is no list to look for item " + strconv.Itoa(at.index) + " in"
	}
	return replaceItem(whole, value, steps)
}

func replaceItem(whole, value []byte, steps []step) (out []byte, problem string) {
	items := elements(whole)
	index := steps[0].index
	if index > len(items) {
		return nil, "the list has " + strconv.Itoa(len(items)) + " items; the next is " + strconv.Itoa(len(items))
	}
	if index == noIndex {
		index = len(items)
	}
	if index == len(items) {
		items = append(items, nil)
	}
	inner, problem := replaceAt(items[index], value, steps[1:])
	if problem != "" {
		return nil, problem
	}
	items[index] = inner
	return joinArray(items), ""
}

// overlay keeps the component's existing values that the new value does not set.
func (n Node) overlay(param *knowledge.Param, value []byte) []byte {
	old, ok := n.Input(param.Name)
	if param.Type != typeConfig || !ok || firstByte(old) != '{' || firstByte(value) != '{' {
		return value
	}
	return merge(old, value)
}

func merge(old, value []byte) []byte {
	for _, m := range members(value) {
		old = set(old, value[m.from:m.to], m.key)
	}
	return old
}

// configure adds the configuration of the component that a member of an object selects, as the
// canvas does: the defaults and the existing values.
func (d *draft) configure(object []byte, name string) (out []byte, problem string) {
	component := textAt(object, name)
	key := name + "Config"
	old, has := get(object, key)
	if component == "" || strings.Contains(component, "{{") {
		return object, ""
	}
	def, ok := d.defs.Node(component)
	if !ok {
		return nil, unknown("kind of node", component, d.similar(component))
	}
	if has && textAt(old, name) == component {
		return object, ""
	}
	config := &values{raw: map[string][]byte{}}
	if def.Credential != nil {
		config.put("credential", []byte(`""`))
	}
	fresh := defaults(def)
	for _, k := range fresh.keys {
		config.put(k, fresh.raw[k])
	}
	if has && firstByte(old) == '{' && textAt(old, name) == "" {
		for _, m := range members(old) {
			config.put(m.key, old[m.from:m.to])
		}
	}
	config.put(name, encode(component))
	return set(object, config.bytes(), key), ""
}

// configureItems does the same for the items of an array.
func (d *draft) configureItems(param *knowledge.Param, value []byte) (out []byte, problem string) {
	if param.Type != "array" || firstByte(value) != '[' {
		return value, ""
	}
	items := elements(value)
	changed := false
	for i := range items {
		for j := range param.Array {
			if !param.Array[j].LoadConfig || firstByte(items[i]) != '{' {
				continue
			}
			if items[i], problem = d.configure(items[i], param.Array[j].Name); problem != "" {
				return nil, "item " + strconv.Itoa(i) + ": " + problem
			}
			changed = true
		}
	}
	if !changed {
		return value, ""
	}
	return joinArray(items), ""
}
