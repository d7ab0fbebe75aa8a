// Package transfer writes flows as files that people read, compare and keep in
// version control, and reads them back. It is pure.
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

// format is the number of the form of the files.
const format = 1

// File is a flow outside of a server. Credentials are named, never held: where
// the flow goes, those of the same names take their places.
type File struct {
	Format   int    `json:"format"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Category string `json:"category,omitempty"`
	// Credentials are those that the graph uses, by the ids that stand in it.
	Credentials map[string]Credential `json:"credentials,omitempty"`
	// Variables are the names of the variables that its texts use.
	Variables []string `json:"variables,omitempty"`
	// Flow is the graph, with its members in their order.
	Flow json.RawMessage `json:"flow"`
	// Foreign means that Flowise or a person wrote the file: its credentials are not
	// named, and most exports have none.
	Foreign bool `json:"-"`
	// ChatbotConfig is how the chat of a foreign flow looks and what it begins with.
	ChatbotConfig *string `json:"-"`
}

// Credential names a credential.
type Credential struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Encode writes a file: indented, the same flow always the same bytes.
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

// Decode reads a file; the graph comes back as the server keeps it, in one line.
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

// Variables names the variables that a graph uses, sorted.
func Variables(flowData string) []string {
	var out []string
	for _, m := range variable.FindAllStringSubmatch(flowData, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var strange = regexp.MustCompile(`[^\p{L}\p{N}._-]+`)

// FileName is a name for the file of a flow.
func FileName(flowName string) string {
	name := strings.Trim(strange.ReplaceAllString(flowName, "-"), "-.")
	if name == "" {
		name = "flow"
	}
	return name + ".json"
}
