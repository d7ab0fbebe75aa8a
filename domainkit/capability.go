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

// Capability declares one operation of a domain.
type Capability struct {
	// Name is unique in the domain.
	Name        string
	Description string
	// Metadata may also be given, in whole or in part, in the hints file. Without a side-effect
	// class the capability is treated as an irreversible write.
	Metadata contracts.Metadata
	// Schema and OutputSchema are JSON Schemas. Add merges them over the generated schemas (RFC
	// 7396, JSON Merge Patch); AddRaw uses them unchanged.
	Schema       json.RawMessage
	OutputSchema json.RawMessage
	// Resolve finds the outcome of an interrupted keyed execution. It is an error for a capability
	// that is not keyed.
	Resolve Resolver
	// Unmarked is read by AddWrite only. It declares that the write stores no mark of its
	// idempotency key, so that the generated find_ read takes the write's parameters and no key.
	Unmarked bool
}

// Call is the context that a handler receives with its parameters.
type Call struct {
	contracts.ExecuteContext
	// Capability is the name of the called capability.
	Capability string
	// Traceparent is the caller's W3C trace context, or empty.
	Traceparent string
}

// RawHandler executes a call whose parameters match the schema. It may be called concurrently. The
// errors of Refusef, Retryf, Failf, Ask, Waitf and Forbiddenf are passed to the caller as
// documented there. Any other error becomes type "internal"; its text is only logged.
type RawHandler func(ctx context.Context, call Call, parameters json.RawMessage) (contracts.ToolResult, error)

// Resolution is the result of a Resolver.
type Resolution struct {
	// Effect is applied, none or unknown. Return none only if the earlier execution can no longer
	// take effect, because the handler is then called again.
	Effect contracts.Effect
	// Facts are the facts of the result if Effect is applied.
	Facts any
	// Summary is the summary of the result. If it is empty, it is made from the facts.
	Summary string
}

// Resolver looks up in the domain's own records whether the execution with call.IdempotencyKey took
// effect. It is called on a retry after a crash, a timeout or a panic, by one process at a time.
type Resolver func(ctx context.Context, call Call, parameters json.RawMessage) (Resolution, error)

// LookUp returns a Resolver that decodes the parameters into an In and calls look. Look returns
// whether the execution was applied, or nil if that is unknown, and the facts if it was.
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

// Add adds a capability that takes an In and returns an Out as its facts. Both are structs. Out may
// be Result[T] to return artifacts or raw data too, and may implement Summarizer. Join several
// calls with errors.Join:
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

// AddRaw adds a capability whose schemas are written by hand.
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

// objectSchema generates the schema of a struct and merges overlay over it.
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

// plainJSONError describes a JSON decoding error without naming Go types.
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
