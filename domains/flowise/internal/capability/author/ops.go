package author

import (
	"bytes"
	"encoding/json"
)

// Ops are edits in the form of the Patch IR; what is in them is checked by the
// compiler, which names the op and what would be right.
type Ops []json.RawMessage

// JSONSchema describes a list of ops.
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
