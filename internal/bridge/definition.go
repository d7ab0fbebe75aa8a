package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// Definition is one operation as its service describes it.
type Definition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// Claims are the service's hints about the effect of a call, nil if there are none.
	Claims *Claims `json:"claims,omitempty"`
	// Tags group operations. Path is the operation's URL path, if it has one.
	Tags []string `json:"tags,omitempty"`
	Path string   `json:"path,omitempty"`
	// Fault says why the source cannot call it, if so.
	Fault string `json:"fault,omitempty"`
	// Plain means that the protocol itself defines whether it is a read or a write, as HTTP methods do.
	Plain bool `json:"plain,omitempty"`
}

// Claims are a service's hints about an operation.
type Claims struct {
	ReadOnly    bool  `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  bool  `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// Digest returns the hash that pins are compared by.
func (d Definition) Digest() string {
	hash, err := contracts.Hash(d)
	if err != nil {
		return "" // no pin equals it
	}
	return hash
}

// Call is one call of an operation.
type Call struct {
	Name      string
	Arguments map[string]any
	Context   domainkit.Call
	// Writes means that the call may have an effect.
	Writes bool
	Tool   Tool
}

// Source is the service behind a bridge.
type Source interface {
	// Definitions lists the current operations; it may omit those that are not selected.
	Definitions(ctx context.Context, selected *Select) ([]Definition, error)
	// Call calls an operation. If the effect of a failed call is known, the error is a
	// *contracts.ToolError.
	Call(ctx context.Context, call Call) (contracts.ToolResult, error)
	// Close releases the source's resources.
	Close() error
}

// CapabilityName derives the name of a capability from that of an operation.
func CapabilityName(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			out.WriteRune(r)
		default:
			out.WriteByte('_')
		}
	}
	text := strings.Trim(out.String(), "_-")
	if text == "" || text[0] >= '0' && text[0] <= '9' {
		text = "op_" + text
	}
	return text[:min(len(text), maxName)]
}

const (
	// maxName bounds the name of a capability.
	maxName = 64
	// maxSchemaBytes bounds one schema, maxDescription the used part of a description.
	maxSchemaBytes = 64 << 10
	maxDescription = 400
)

// plainName reports whether a name has only ASCII characters, which cannot be mistaken for others.
func plainName(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || r < 0x20
	})
}

// described returns a description as data: one line, without invisible characters, of bounded length.
func described(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) {
			return -1
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxDescription {
		return string(runes[:maxDescription-1]) + "…"
	}
	return string(runes)
}

// fault returns why an operation cannot be served, "" if it can.
func (d Definition) fault() string {
	switch {
	case d.Fault != "":
		return d.Fault
	case !plainName(d.Name):
		return "its name has letters outside of ASCII, which can look like others, or is too long"
	case len(d.InputSchema) > maxSchemaBytes:
		return "its schema has more than 64 KiB"
	}
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(d.InputSchema, &root); err != nil || root.Type != nil && root.Type != "object" {
		return "its parameters are no object"
	}
	if _, err := contracts.CompileSchema(d.InputSchema); err != nil {
		return "its schema is not understood: " + contracts.CleanSummary(err.Error())
	}
	return ""
}

// Differences lists the differences between two definitions as JSON pointers.
func Differences(before, after Definition) []string {
	var out []string
	differ("", tree(before), tree(after), &out)
	return out
}

func tree(d Definition) any {
	var v any
	raw, err := json.Marshal(d)
	if err != nil || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

const maxDifferences = 20

func differ(at string, a, b any, out *[]string) {
	x, xIs := a.(map[string]any)
	y, yIs := b.(map[string]any)
	if !xIs || !yIs {
		before, _ := json.Marshal(a)
		after, _ := json.Marshal(b)
		if string(before) != string(after) && len(*out) < maxDifferences {
			*out = append(*out, at+": "+cut(before)+" → "+cut(after))
		}
		return
	}
	for _, k := range keysOf(x, y) {
		differ(at+"/"+contracts.EscapeToken(k), x[k], y[k], out)
	}
}

func cut(raw []byte) string {
	const most = 120
	text := strings.ToValidUTF8(string(raw[:min(len(raw), most)]), "")
	if len(raw) > most {
		text += "…"
	}
	return text
}

func keysOf(maps ...map[string]any) []string {
	var out []string
	for _, m := range maps {
		for k := range m {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
