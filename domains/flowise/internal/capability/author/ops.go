package author

import (
	"bytes"
	"encoding/json"
)

// Ops are edits in the Patch IR. The compiler validates them and reports faults by op.
type Ops []json.RawMessage

// JSONSchema returns the schema of a list of ops.
func (Ops) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"array","maxItems":1000,"items":{"type":"object","required":["op_type"],"properties":{"op_type":{"type":"string",` +
		`"enum":["AddNode","SetParam","Connect","BindCredential","RemoveNode","Disconnect","RenameNode","MoveNode","ReplaceNode"]}}}}`)
}

// raw returns the list as JSON.
func (o Ops) raw() json.RawMessage {
	if len(o) == 0 {
		return nil
	}
	parts := make([][]byte, len(o))
	for i, op := range o {
		parts[i] = op
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
}
