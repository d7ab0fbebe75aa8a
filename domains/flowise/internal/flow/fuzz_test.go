package flow_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// FuzzDecompile: a decoded flow is JSON and is written unchanged, and nothing panics on it.
func FuzzDecompile(f *testing.F) {
	for name := range built() {
		f.Add(build(f, name).FlowData)
	}
	f.Add([]byte(`{"edges":[ {"id":1} , 2],"nodes":[ ],"nodes":[{"id":"a","id":"b","data":{"name":"customFunction","inputs":[]}}]}`))
	defs := definitions(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		flow.Validate(data, defs, flow.Check{})
		g, err := flow.Decompile(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatal("read what is no JSON")
		}
		flow.Summarize(g, "", defs)
		r, err := flow.Compile(g, nil, defs, flow.Options{})
		if err != nil || !bytes.Equal(r.FlowData, data) {
			t.Fatalf("without an op: %v, or other bytes", err)
		}
		r, err = flow.Compile(g, ops(t, `[{"op_type":"AddNode","node_name":"stickyNote","node_id":"fuzz_note"}]`), defs, flow.Options{})
		if err == nil && !json.Valid(r.FlowData) {
			t.Fatal("wrote what is no JSON")
		}
	})
}

// FuzzDecodeOps: decoded ops are applied or refused without a panic.
func FuzzDecodeOps(f *testing.F) {
	for _, text := range built() {
		f.Add([]byte(text))
	}
	f.Add([]byte(`[{"op_type":"SetParam","node_id":"conversationChain_0","param_name":"a[0].b[1]","value":{}}]`))
	base, defs := build(f, "conversation").Graph, definitions(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := flow.DecodeOps(data)
		if err != nil {
			return
		}
		r, err := flow.Compile(base, list, defs, flow.Options{})
		if err != nil {
			return
		}
		if !json.Valid(r.FlowData) {
			t.Fatal("wrote what is no JSON")
		}
		flow.Validate(r.FlowData, defs, flow.Check{Kind: r.Kind})
	})
}
