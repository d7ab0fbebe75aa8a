package contracts

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

// SchemaName names one of the JSON Schemas of this contract; its file is
// schemas/<name>.json.
type SchemaName string

// The schemas of the contract.
const (
	SchemaManifest        SchemaName = "manifest"
	SchemaToolResult      SchemaName = "tool_result"
	SchemaExecuteRequest  SchemaName = "execute_request"
	SchemaAccepted        SchemaName = "accepted"
	SchemaHealth          SchemaName = "health"
	SchemaPlan            SchemaName = "plan"
	SchemaIntent          SchemaName = "intent"
	SchemaInterrupt       SchemaName = "interrupt"
	SchemaResume          SchemaName = "resume"
	SchemaEvent           SchemaName = "event"
	SchemaLedgerEntry     SchemaName = "ledger_entry"
	SchemaVerdict         SchemaName = "verdict"
	SchemaRegistration    SchemaName = "registration"
	SchemaBootstrap       SchemaName = "bootstrap"
	SchemaStartSession    SchemaName = "start_session"
	SchemaSessionResponse SchemaName = "session_response"
	SchemaRunView         SchemaName = "run_view"
)

// SchemaNames lists every schema of the contract.
func SchemaNames() []SchemaName {
	return []SchemaName{
		SchemaManifest, SchemaToolResult, SchemaExecuteRequest, SchemaAccepted, SchemaHealth, SchemaPlan, SchemaIntent,
		SchemaInterrupt, SchemaResume, SchemaEvent, SchemaLedgerEntry, SchemaVerdict, SchemaRegistration,
		SchemaBootstrap, SchemaStartSession, SchemaSessionResponse, SchemaRunView,
	}
}

// builtins compiles the embedded schemas once; they never change after.
var builtins = sync.OnceValues(func() (map[SchemaName]*Schema, error) {
	out := map[SchemaName]*Schema{}
	for _, name := range SchemaNames() {
		raw, err := schemaFiles.ReadFile("schemas/" + string(name) + ".json")
		if err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		if out[name], err = CompileSchema(raw); err != nil {
			return nil, fmt.Errorf("compile schema %s: %w", name, err)
		}
	}
	return out, nil
})

// BuiltinSchema gives one of the schemas of the contract.
func BuiltinSchema(name SchemaName) (*Schema, error) {
	all, err := builtins()
	if err != nil {
		return nil, err
	}
	s, ok := all[name]
	if !ok {
		return nil, Errorf(CodeNotFound, "there is no schema %q", name)
	}
	return s, nil
}

// Parse decodes strictly what an author or a caller wrote and holds it to the
// named schema. The Error lists the faults of both.
func Parse(name SchemaName, data []byte, v any) error {
	schema, err := BuiltinSchema(name)
	if err != nil {
		return err
	}
	parsed, err := decodeStrict(data, v)
	if parsed == nil && err != nil {
		return err // syntax: there is nothing to hold to a schema
	}
	faults := faultList(faultsOf(err))
	faults.merge(validate(schema.compiled, settled(parsed)))
	if len(faults) > 0 {
		words := strings.ReplaceAll(string(name), "_", " ")
		return Invalid("the "+words+" is not valid", faults...)
	}
	return err
}

// merge adds what the schema found at places where the strict decoder found
// nothing, and leaves out unknown keys, which the decoder names better.
func (l *faultList) merge(found []schemaFault) {
	told := map[string]bool{}
	for _, f := range *l {
		told[f.Pointer] = true
	}
	for _, f := range found {
		unknownKey := slices.Contains([]string{"additionalProperties", "propertyNames", "not"}, f.keyword)
		if !told[f.Pointer] && !unknownKey {
			l.add(f.Pointer, "%s", f.Message)
		}
	}
}

// settled applies the number rule of Decode to a parsed tree. Numbers out of
// range have been replaced by the parser.
func settled(parsed any) any {
	norm, err := Normalize(parsed)
	if err != nil {
		return parsed
	}
	return norm
}

func faultsOf(err error) []Fault {
	if e, ok := err.(*Error); ok { //nolint:errorlint // decodeStrict gives it unwrapped
		return e.Faults
	}
	return nil
}
