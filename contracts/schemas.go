package contracts

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

// SchemaName is the name of one of the JSON Schemas of this contract. Its file is
// schemas/<name>.json.
type SchemaName string

// The schemas of inputs to Manifold.
const (
	SchemaManifest      SchemaName = "manifest"
	SchemaResume        SchemaName = "resume"
	SchemaRegistration  SchemaName = "registration"
	SchemaBootstrap     SchemaName = "bootstrap"
	SchemaStartSession  SchemaName = "start_session"
	SchemaPlanRequest   SchemaName = "plan_request"
	SchemaRunPlan       SchemaName = "run_plan"
	SchemaMessage       SchemaName = "message"
	SchemaRename        SchemaName = "rename"
	SchemaConfirmDomain SchemaName = "confirm_domain"
	SchemaKeySpec       SchemaName = "key_spec"
	SchemaLockKey       SchemaName = "lock_key"
	SchemaAuditRequest  SchemaName = "audit_request"
	SchemaSignIn        SchemaName = "sign_in"
)

// SchemaNames returns the names of all schemas of the contract.
func SchemaNames() []SchemaName {
	var names []SchemaName
	files, _ := fs.Glob(schemaFiles, "schemas/*.json") // the pattern is valid
	for _, file := range files {
		names = append(names, SchemaName(strings.TrimSuffix(path.Base(file), ".json")))
	}
	return names
}

// builtins compiles the embedded schemas once. They are immutable.
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

// BuiltinSchema returns a schema of the contract, or an error of code not_found.
func BuiltinSchema(name SchemaName) (*Schema, error) {
	all, err := builtins()
	if err != nil {
		return nil, err
	}
	if s, ok := all[name]; ok {
		return s, nil
	}
	return nil, Errorf(CodeNotFound, "there is no schema %q", name)
}

// Parse strictly decodes an input and validates it against the named schema. The Error lists the
// faults of both.
func Parse(name SchemaName, data []byte, v any) error {
	schema, err := BuiltinSchema(name)
	if err != nil {
		return err
	}
	parsed, err := decodeStrict(data, v)
	if parsed == nil && err != nil {
		return err // a syntax error leaves nothing to validate
	}
	faults := faultList(faultsOf(err))
	faults.merge(validate(schema.compiled, settled(parsed)))
	if len(faults) > 0 {
		return Invalid("the "+strings.ReplaceAll(string(name), "_", " ")+" is not valid", faults...)
	}
	return err
}

// merge adds the schema faults at locations without a decoder fault. It omits unknown keys, which
// the decoder reports better.
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

// settled applies the number rule of Decode to a parsed tree. The parser has already replaced
// numbers that are out of range.
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
