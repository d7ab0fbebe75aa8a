package domainkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/manifold-run/manifold/contracts"
)

// Capability declares one thing that a domain can do.
type Capability struct {
	// Name is unique in the domain.
	Name        string
	Description string
	// Metadata may also stand, in whole or in part, in the hints file. Without
	// a side-effect class the capability counts as an irreversible write.
	Metadata contracts.Metadata
	// Schema and OutputSchema are, for Add, merged over the generated schemas
	// (RFC 7396); for AddRaw they are the schemas.
	Schema       json.RawMessage
	OutputSchema json.RawMessage
	// Resolve tells the outcome of a keyed execution that was cut off.
	Resolve Resolver
	// Unmarked says of a write that is added by AddWrite that it leaves no mark of its key:
	// what it did is looked for by its parameters alone.
	Unmarked bool
}

// Call is what a handler gets to know besides its parameters.
type Call struct {
	contracts.ExecuteContext
	// Capability is the name that was called.
	Capability string
	// Traceparent is the W3C trace context of the caller, if it sent one.
	Traceparent string
}

// RawHandler executes a call whose parameters fit the schema. An error is
// answered as Refusef, Retryf and Failf describe; any other error becomes
// "internal", its text going only to the log.
type RawHandler func(ctx context.Context, call Call, parameters json.RawMessage) (contracts.ToolResult, error)

// Resolution is what a Resolver found out.
type Resolution struct {
	// Effect is applied, none or unknown. Say none only when the earlier
	// execution can no longer take effect: the work is then done again.
	Effect contracts.Effect
	// Facts are those of the result, when the effect was applied.
	Facts any
	// Summary is that of the result; empty, one is made of the facts.
	Summary string
}

// Resolver looks in the author's own records for the outcome of the execution
// of call.IdempotencyKey. It is called at a repeat after a crash, a time-out or
// a panic, by one process at a time.
type Resolver func(ctx context.Context, call Call, parameters json.RawMessage) (Resolution, error)

// LookUp makes a Resolver of a look-up that takes the parameters as an In. It
// reports whether the execution was applied, or nil where that cannot be told, and
// the facts of one that was.
func LookUp[In any](look func(ctx context.Context, call Call, in In) (applied *bool, facts any, err error)) Resolver {
	return func(ctx context.Context, call Call, parameters json.RawMessage) (Resolution, error) {
		var in In
		if err := json.Unmarshal(parameters, &in); err != nil {
			return Resolution{}, fmt.Errorf("parameters: %w", err)
		}
		applied, facts, err := look(ctx, call, in)
		switch {
		case err != nil:
			return Resolution{}, err
		case applied == nil:
			return Resolution{Effect: contracts.EffectUnknown}, nil
		case !*applied:
			return Resolution{Effect: contracts.EffectNone}, nil
		}
		return Resolution{Effect: contracts.EffectApplied, Facts: facts}, nil
	}
}

// Add adds a capability whose parameters are an In and whose facts are an Out.
// In and Out are structs; Out may be Result[T] to answer with artifacts or raw
// data too, and may have a method Summary() string. Several calls are joined
// with errors.Join:
//
//	err := errors.Join(
//		domainkit.Add(svc, …),
//		domainkit.Add(svc, …),
//	)
func Add[In, Out any](s *Service, c Capability, fn func(ctx context.Context, call Call, in In) (Out, error)) error {
	if fn == nil {
		return fmt.Errorf("capability %q: the handler is nil", c.Name)
	}
	input, err := objectSchema(reflect.TypeFor[In](), true, c.Schema)
	if err != nil {
		return fmt.Errorf("capability %q: parameters: %w", c.Name, err)
	}
	output, err := objectSchema(factsType(reflect.TypeFor[Out]()), false, c.OutputSchema)
	if err != nil {
		return fmt.Errorf("capability %q: facts: %w", c.Name, err)
	}
	c.Schema, c.OutputSchema = input, output
	return s.add(&capability{
		declared: c,
		handler: func(ctx context.Context, call Call, parameters json.RawMessage) (contracts.ToolResult, error) {
			var in In
			if err := json.Unmarshal(parameters, &in); err != nil {
				return contracts.ToolResult{}, Refusef(contracts.ErrInvalidParameters, "the parameters cannot be read: %s", plainJSONError(err))
			}
			out, err := fn(ctx, call, in)
			if err != nil {
				return contracts.ToolResult{}, err
			}
			return resultOf(out)
		},
	})
}

// AddRaw adds a capability with schemas written by hand.
func AddRaw(s *Service, c Capability, handler RawHandler) error {
	if handler == nil {
		return fmt.Errorf("capability %q: the handler is nil", c.Name)
	}
	return s.add(&capability{declared: c, handler: handler})
}

// capability is a declaration with its handler.
type capability struct {
	declared Capability
	handler  RawHandler
}

func (s *Service) add(c *capability) error {
	if c.declared.Name == "" {
		return errors.New("a capability has no name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.built != nil {
		return fmt.Errorf("capability %q: added after the service was started", c.declared.Name)
	}
	for _, other := range s.declared {
		if other.declared.Name == c.declared.Name {
			return fmt.Errorf("capability %q: added twice", c.declared.Name)
		}
	}
	s.declared = append(s.declared, c)
	return nil
}

// objectSchema derives the schema of a struct and merges the author's over it.
func objectSchema(t reflect.Type, input bool, overlay json.RawMessage) (json.RawMessage, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct", t)
	}
	g := generator{input: input}
	schema, err := g.of(t)
	if err != nil {
		return nil, err
	}
	if kindOf(schema) != "object" && len(schema.members) > 0 {
		return nil, fmt.Errorf("%s is no object in JSON", t)
	}
	if len(overlay) > 0 {
		v, err := parseOrdered(overlay)
		if err != nil {
			return nil, fmt.Errorf("the schema to merge: %w", err)
		}
		change, ok := v.(*object)
		if !ok {
			return nil, errors.New("the schema to merge is no object")
		}
		schema.patch(change)
	}
	return json.Marshal(schema)
}

// plainJSONError reports where a JSON value does not fit a Go type, without
// naming Go types to the caller.
func plainJSONError(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is out of range or of the wrong form (%s)", wrong.Field, wrong.Value)
	}
	return err.Error()
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimSpace(raw)
	return len(trimmed) > 0 && trimmed[0] == '{'
}
