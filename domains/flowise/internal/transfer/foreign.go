package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Types of flows as Flowise stores them.
const (
	typeChat  = "CHATFLOW"
	typeAgent = "AGENTFLOW"
	typeMulti = "MULTIAGENT"
)

// row is a flow in the format of Flowise's API, exports and templates.
type row struct {
	Name          string          `json:"name"`
	TemplateName  string          `json:"templateName"`
	Type          string          `json:"type"`
	Category      *string         `json:"category"`
	ChatbotConfig *string         `json:"chatbotConfig"`
	FlowData      json.RawMessage `json:"flowData"`
}

// reader collects the flows of one file.
type reader struct {
	// file is the name of the file, used for a graph without a name.
	file  string
	flows []File
	// others counts the other objects in an export by key.
	others map[string]int
}

// maxNested bounds the nesting of a flow in lists, strings and wrappers.
const maxNested = 6

// ReadAll reads every flow of a file in any format: of this package, of Flowise's canvas, dashboard
// export or API, a template, or written by hand. It refuses a file without a flow and says what it
// contains.
func ReadAll(raw []byte, file string) ([]File, error) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	if err := whole(raw); err != nil {
		return nil, err
	}
	r := &reader{file: file, others: map[string]int{}}
	if err := r.value(raw, "", 0); err != nil {
		return nil, err
	}
	if len(r.flows) == 0 {
		return nil, r.nothing(raw)
	}
	return r.flows, nil
}

// whole returns an error if a file is truncated or is not JSON.
func whole(raw []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(raw, &any)
	if err == nil {
		return nil
	}
	at := len(raw)
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		at = int(min(syntax.Offset, int64(len(raw))))
	}
	line, column := 1+bytes.Count(raw[:at], []byte("\n")), at-bytes.LastIndexByte(raw[:at], '\n')-1
	if strings.Contains(err.Error(), "unexpected end") {
		return contracts.Errorf(contracts.CodeInvalid, "the file is cut off: it ends within a value at line %d, column %d; export the flow again", line, column)
	}
	return contracts.Errorf(contracts.CodeInvalid, "the file is no JSON at line %d, column %d: %v", line, column, err)
}

// value reads one value; under is its key.
func (r *reader) value(raw json.RawMessage, under string, depth int) error {
	if depth > maxNested || len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		var text string
		if json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)) {
			return r.value(json.RawMessage(strings.TrimSpace(text)), under, depth+1)
		}
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return contracts.Errorf(contracts.CodeInvalid, "the list %s cannot be read: %v", under, err)
		}
		for _, item := range items {
			if err := r.value(item, under, depth+1); err != nil {
				return err
			}
		}
	case '{':
		return r.object(raw, under, depth)
	}
	return nil
}

func (r *reader) object(raw json.RawMessage, under string, depth int) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "%s cannot be read: %v", cmp.Or(under, "the file"), err)
	}
	switch {
	case depth == 0 && len(all["format"]) > 0 && len(all["flow"]) > 0:
		f, err := Decode(raw)
		r.flows = append(r.flows, f)
		return err
	case len(all["flowData"]) > 0:
		return r.row(raw, under)
	case first(all["nodes"]) == '[' || first(all["edges"]) == '[':
		return r.canvas(all, row{Name: nameOf(all["name"])}, under)
	}
	if under != "" {
		r.others[under]++
	}
	for _, key := range sorted(all) {
		if c := first(all[key]); c == '[' || c == '{' {
			if err := r.value(all[key], key, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// row reads a flow with its settings.
func (r *reader) row(raw json.RawMessage, under string) error {
	var one row
	if err := json.Unmarshal(raw, &one); err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "a flow of %s cannot be read: %v", cmp.Or(under, "the file"), err)
	}
	graph := one.FlowData
	if first(graph) == '"' {
		var text string
		if err := json.Unmarshal(graph, &text); err != nil {
			return contracts.Errorf(contracts.CodeInvalid, "the flowData of %q cannot be read: %v", one.Name, err)
		}
		graph = json.RawMessage(strings.TrimSpace(text))
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(graph, &all); err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "the flowData of %q is no graph: %v", cmp.Or(one.Name, one.TemplateName), err)
	}
	return r.canvas(all, one, under)
}

// canvas reads a graph: the two lists and the viewport. Other members, such as comments or template
// texts, are dropped.
func (r *reader) canvas(all map[string]json.RawMessage, one row, under string) error {
	if first(all["nodes"]) != '[' {
		return contracts.Errorf(contracts.CodeInvalid, "the graph has edges and no list of nodes; export the flow again")
	}
	if system := foreign(all); system != "" {
		return contracts.Errorf(contracts.CodeInvalid, "the file is a flow of %s; Flowise has other nodes, so that it has to be built anew", system)
	}
	edges := all["edges"]
	if first(edges) != '[' {
		edges = json.RawMessage("[]")
	}
	var graph bytes.Buffer
	fmt.Fprintf(&graph, `{"nodes":%s,"edges":%s`, compact(all["nodes"]), compact(edges))
	if first(all["viewport"]) == '{' {
		fmt.Fprintf(&graph, `,"viewport":%s`, compact(all["viewport"]))
	}
	graph.WriteByte('}')
	f := File{Name: cmp.Or(one.Name, one.TemplateName, nameOfFile(r.file)), Type: typeOf(one.Type, under), Flow: graph.Bytes(), Foreign: true}
	if one.Category != nil {
		f.Category = *one.Category
	}
	f.ChatbotConfig = one.ChatbotConfig
	r.flows = append(r.flows, f)
	return nil
}

// typeOf returns the type of a flow: its own, else that of its list in the export. "" means that
// the nodes decide.
func typeOf(said, list string) string {
	said = strings.ToUpper(strings.TrimSpace(said))
	if slices.Contains([]string{typeChat, typeAgent, typeMulti}, said) {
		return said
	}
	switch strings.ToLower(list) {
	case "agentflowv2", "agentflowsv2":
		return typeAgent
	case "agentflow", "agentflows":
		return typeMulti
	}
	return ""
}

// foreign returns the name of another system with similar files, or "".
func foreign(all map[string]json.RawMessage) string {
	if first(all["connections"]) == '{' {
		return "n8n"
	}
	var nodes []struct {
		Data struct {
			Node json.RawMessage `json:"node"`
			Name string          `json:"name"`
		} `json:"data"`
	}
	if json.Unmarshal(all["nodes"], &nodes) != nil {
		return ""
	}
	for _, n := range nodes {
		if n.Data.Name == "" && first(n.Data.Node) == '{' {
			return "Langflow"
		}
	}
	return ""
}

// nothing returns an error that says what a file without a flow contains.
func (r *reader) nothing(raw json.RawMessage) error {
	var tool struct {
		Name string          `json:"name"`
		Func json.RawMessage `json:"func"`
	}
	if first(raw) == '{' && json.Unmarshal(raw, &tool) == nil && len(tool.Func) > 0 {
		return contracts.Errorf(contracts.CodeInvalid, "the file is the custom tool %q and no flow; load it under Tools in Flowise", tool.Name)
	}
	var parts []string
	for _, key := range sorted(r.others) {
		parts = append(parts, fmt.Sprintf("%d of %s", r.others[key], key))
	}
	if len(parts) > 0 {
		return contracts.Errorf(contracts.CodeInvalid, "there is no flow in the file; it holds %s", strings.Join(parts[:min(8, len(parts))], ", "))
	}
	return contracts.Errorf(contracts.CodeInvalid, "there is no flow in the file: a flow has the lists nodes and edges")
}

// nameOfFile derives a flow's name from the name of a canvas export.
func nameOfFile(file string) string {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".json")
	for _, added := range []string{" Chatflow", " Agents", " Agentflow"} {
		name = strings.TrimSuffix(name, added)
	}
	return cmp.Or(strings.TrimSpace(name), "Imported flow")
}

func nameOf(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return ""
	}
	return strings.TrimSpace(name)
}

func first(raw json.RawMessage) byte {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

func compact(raw json.RawMessage) []byte {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return raw
	}
	return line.Bytes()
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
