package flow_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTextsOfAnyLengthKeepTheirPlace: quotes and backslashes are recognized at any position, so
// that the bytes after a string are parsed correctly.
func TestTextsOfAnyLengthKeepTheirPlace(t *testing.T) {
	t.Parallel()
	for length := range 64 {
		for _, end := range []string{"", `\`, `"`, `\"`, `\\`, `"\`, "\n"} {
			label := "a" + strings.Repeat("x", length) + end
			quoted, err := json.Marshal(label)
			if err != nil {
				t.Fatal(err)
			}
			r := compile(t, nil, `[{"op_type":"AddNode","node_name":"bufferMemory","node_id":"m","label":`+string(quoted)+`},
				{"op_type":"SetParam","node_id":"m","param_name":"memoryKey","value":`+string(quoted)+`},
				{"op_type":"SetParam","node_id":"m","param_name":"sessionId","value":"after"}]`)
			n, _ := r.Graph.Node("m")
			key, _ := n.Input("memoryKey")
			session, _ := n.Input("sessionId")
			if n.Label() != label || string(key) != string(quoted) || string(session) != `"after"` {
				t.Fatalf("%q: label %q, key %s, session %s", label, n.Label(), key, session)
			}
		}
	}
}
