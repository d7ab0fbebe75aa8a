package goal

import (
	"errors"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Change returns the ops that add missing features to a flow. It changes only what the features
// name, and returns in left what cannot be changed.
func (t Tools) Change(g *flow.Graph, kind flow.Kind, f Features) (ops []flow.Op, left []string, err error) {
	target := edit.Target{Graph: g, Kind: kind, Defs: t.Defs}
	if len(f.Branches) > 0 {
		left = append(left, "a condition is built into new flows only")
	}
	take := func(made []flow.Op, err error) error {
		if wrong, ours := errors.AsType[*contracts.Error](err); ours && wrong.Code == contracts.CodeInvalid {
			left = append(left, wrong.Message)
			return nil
		}
		ops = append(ops, made...)
		return err
	}
	for _, step := range []struct {
		wanted bool
		make   func() ([]flow.Op, error)
	}{
		{f.Model != "", func() ([]flow.Op, error) { return t.changeModel(target, f) }},
		{f.Memory != nil, func() ([]flow.Op, error) { return t.changeMemory(target, *f.Memory) }},
		{len(f.Documents) > 0 && f.Documents[0].Address != "", func() ([]flow.Op, error) {
			return at(target, edit.RoleSource, func(s edit.Spot) ([]flow.Op, error) { return target.Source(s, f.Documents[0].Address) })
		}},
		{f.Reply != "", func() ([]flow.Op, error) { return changeReply(g, f.Reply) }},
		{f.Moderation != "", func() ([]flow.Op, error) {
			return at(target, edit.RoleModeration, func(s edit.Spot) ([]flow.Op, error) {
				return target.Moderation(s, f.Moderation, t.account(f.Moderation), "")
			})
		}},
		{f.Instructions != "", func() ([]flow.Op, error) {
			return at(target, edit.RolePrompt, func(s edit.Spot) ([]flow.Op, error) { return target.Prompt(s, f.Instructions) })
		}},
	} {
		if step.wanted && err == nil {
			err = take(step.make())
		}
	}
	for _, tool := range f.Tools {
		if err == nil {
			err = take(at(target, edit.RoleTools, func(s edit.Spot) ([]flow.Op, error) { return target.AddTool(s, tool, t.account(tool)) }))
		}
	}
	return ops, left, err
}

func at(t edit.Target, role edit.Role, do func(edit.Spot) ([]flow.Op, error)) ([]flow.Op, error) {
	spot, err := t.Spot(role, "")
	if err != nil {
		return nil, err
	}
	return do(spot)
}

func (t Tools) changeModel(target edit.Target, f Features) ([]flow.Op, error) {
	return at(target, edit.RoleModel, func(s edit.Spot) ([]flow.Op, error) {
		name := f.ModelName
		if def, known := t.Defs.Node(f.Model); name == "" && known {
			if p, has := def.Input(modelParam(def)); has && p.Default != nil {
				name = string(slices.DeleteFunc([]byte(p.Default), func(b byte) bool { return b == '"' }))
			}
		}
		if name == "" {
			return nil, refuse("say which model of %s", f.Model)
		}
		credential := ""
		if f.Model != s.Def.Name {
			credential = t.account(f.Model)
		}
		return target.Model(s, f.Model, name, credential)
	})
}

// changeReply sets the fixed answer of a flow.
func changeReply(g *flow.Graph, reply string) ([]flow.Op, error) {
	var ops []flow.Op
	for _, n := range g.Nodes() {
		if n.Name() == replyNode {
			ops = append(ops, &flow.SetParam{OpType: flow.OpSetParam, NodeID: n.ID(), ParamName: replyParam, Value: raw(reply)})
		}
	}
	if len(ops) != 1 {
		return nil, refuse("the flow has %d fixed answers", len(ops))
	}
	return ops, nil
}

func (t Tools) changeMemory(target edit.Target, on bool) ([]flow.Op, error) {
	kind := ""
	if on {
		kind = defaults["BaseChatMemory"]
	}
	return at(target, edit.RoleMemory, func(s edit.Spot) ([]flow.Op, error) { return target.Memory(s, kind) })
}

// account returns the credential type of a kind of node, or "" if it needs none.
func (t Tools) account(kind string) string {
	def, known := t.Defs.Node(kind)
	if !known {
		return ""
	}
	kinds := accounts(def)
	for _, k := range kinds {
		if t.Have[k] != "" {
			return t.Have[k]
		}
	}
	if len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}
