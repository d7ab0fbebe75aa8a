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

// SchemaName names one of the JSON Schemas of this contract; its file is
// schemas/<name>.json.
type SchemaName string

// The schemas that what is sent to Manifold is held to.
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

// SchemaNames lists every schema of the contract.
func SchemaNames() []SchemaName {
	var names []SchemaName
	files, _ := fs.Glob(schemaFiles, "schemas/*.json") // the pattern is sound
	for _, file := range files {
		names = append(names, SchemaName(strings.TrimSuffix(path.Base(file), ".json")))
	}
	return names
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

// BuiltinSchema returns one of the schemas of the contract.
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
		return Invalid("the "+strings.ReplaceAll(string(name), "_", " ")+" is not valid", faults...)
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
