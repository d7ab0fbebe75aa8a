// Package transfer encodes flows as files that people can read, compare and keep in version
// control, and decodes them. It does no I/O.
package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// format is the version of the file format.
const format = 1

// File is a flow outside of a server. It has names of credentials and no secrets; the target
// server's credentials with these names are used.
type File struct {
	Format   int    `json:"format"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Category string `json:"category,omitempty"`
	// Credentials are the credentials of the graph, by the ids in it.
	Credentials map[string]Credential `json:"credentials,omitempty"`
	// Variables are the names of the variables used in texts.
	Variables []string `json:"variables,omitempty"`
	// Flow is the graph, with its members in order.
	Flow json.RawMessage `json:"flow"`
	// Foreign means that Flowise or a person wrote the file. Its credentials have no names, and
	// most exports have none.
	Foreign bool `json:"-"`
	// ChatbotConfig is the chat configuration of a foreign flow.
	ChatbotConfig *string `json:"-"`
}

// Credential identifies a credential by name and type.
type Credential struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Encode encodes a file, indented. It is deterministic.
func Encode(f File) ([]byte, error) {
	f.Format = format
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f); err != nil {
		return nil, fmt.Errorf("write the flow %q: %w", f.Name, err)
	}
	return out.Bytes(), nil
}

// Decode decodes a file; the graph is compacted to one line, as the server stores it.
func Decode(raw []byte) (File, error) {
	var f File
	if err := contracts.DecodeStrict(raw, &f); err != nil {
		return File{}, contracts.Errorf(contracts.CodeInvalid, "the file is no flow: %v", err)
	}
	if f.Format != format || f.Name == "" || len(f.Flow) == 0 {
		return File{}, contracts.Errorf(contracts.CodeInvalid, "the file is no flow of format %d: it needs format, name, type and flow", format)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, f.Flow); err != nil {
		return File{}, contracts.Errorf(contracts.CodeInvalid, "the graph in the file is no JSON: %v", err)
	}
	f.Flow = line.Bytes()
	return f, nil
}

var variable = regexp.MustCompile(`\$vars\.([A-Za-z_][A-Za-z0-9_]*)`)

// Variables returns the names of the variables that a graph uses, sorted.
func Variables(flowData string) []string {
	var out []string
	for _, m := range variable.FindAllStringSubmatch(flowData, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var strange = regexp.MustCompile(`[^\p{L}\p{N}._-]+`)

// FileName returns a file name for a flow.
func FileName(flowName string) string {
	name := strings.Trim(strange.ReplaceAllString(flowName, "-"), "-.")
	if name == "" {
		name = "flow"
	}
	return name + ".json"
}
