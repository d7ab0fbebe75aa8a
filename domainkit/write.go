package domainkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// ErrOutcomeUnknown is returned by the find function of AddWrite if it cannot determine whether the
// write took place.
var ErrOutcomeUnknown = errors.New("it cannot be told whether the write took place")

// FindPrefix is the prefix of the reads that AddWrite adds.
const FindPrefix = "find_"

// lookupParams are the parameters of such a read: the write's parameters, and its key unless the
// write is unmarked.
type lookupParams struct {
	Write json.RawMessage `json:"write"`
	Key   string          `json:"key"`
}

// AddWrite adds a keyed write and, based on find, its Resolve and the read find_<name>. The core
// uses the read to reconcile the write and to verify it. The parameters of the read are "write",
// the parameters of the write, and "key", its idempotency key, unless c.Unmarked is set. Its facts
// are "applied" (null if unknown) and the facts of the write.
//
// find receives the write's parameters and, in call.IdempotencyKey, its key, which is empty in the
// read of an unmarked write. It returns nil if the write did not take place, and ErrOutcomeUnknown
// if that cannot be determined. Add further conditions for the verification to
// Metadata.Verify.Assertions.
func AddWrite[In, Out any](s *Service, c Capability, do func(ctx context.Context, call Call, in In) (Out, error), find func(ctx context.Context, call Call, in In) (*Out, error)) error {
	if find == nil {
		return fmt.Errorf("capability %q: find is nil", c.Name)
	}
	c.Resolve = LookUp(func(ctx context.Context, call Call, in In) (applied *bool, facts any, err error) {
		found, err := find(ctx, call, in)
		if errors.Is(err, ErrOutcomeUnknown) {
			return nil, nil, nil
		}
		return new(found != nil), found, err
	})
	if c.Metadata.Idempotency == "" {
		c.Metadata.Idempotency = contracts.IdempotencyKeyed
	}
	if err := Add(s, c, do); err != nil {
		return err
	}
	return s.addFind(c.Name, c.Unmarked, finder(find))
}

// finder returns the handler of the find_ read.
func finder[In, Out any](find func(ctx context.Context, call Call, in In) (*Out, error)) RawHandler {
	return func(ctx context.Context, call Call, parameters json.RawMessage) (contracts.ToolResult, error) {
		var asked lookupParams
		var in In
		if err := errors.Join(json.Unmarshal(parameters, &asked), json.Unmarshal(asked.Write, &in)); err != nil {
			return contracts.ToolResult{}, Refusef(contracts.ErrInvalidParameters, "the parameters cannot be read: %s", plainJSONError(err))
		}
		call.IdempotencyKey = asked.Key
		found, err := find(ctx, call, in)
		switch {
		case errors.Is(err, ErrOutcomeUnknown):
			return contracts.ToolResult{OK: true, Summary: ErrOutcomeUnknown.Error(), Facts: map[string]any{"applied": nil}}, nil
		case err != nil:
			return contracts.ToolResult{}, err
		case found == nil:
			return contracts.ToolResult{OK: true, Summary: "it did not take place", Facts: map[string]any{"applied": false}}, nil
		}
		out, err := resultOf(*found)
		if err != nil {
			return out, err
		}
		out.Facts["applied"] = true
		return out, nil
	}
}

// addFind adds the find_ read of the capability added last, and sets it as the Reconcile and Verify
// capability of that write.
func (s *Service) addFind(name string, unmarked bool, handler RawHandler) error {
	s.mu.Lock()
	write := s.declared[len(s.declared)-1]
	s.mu.Unlock()
	properties := map[string]any{"write": write.declared.Schema}
	given := map[string]any{"write": "${params}"}
	if !unmarked {
		properties["key"] = map[string]any{"type": "string", "minLength": 1, "maxLength": 255, "description": "Idempotency key of the write"}
		given["key"] = "${context.idempotency_key}"
	}
	input, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false, "required": slices.Sorted(maps.Keys(properties)), "properties": properties,
	})
	if err != nil {
		return fmt.Errorf("capability %q: %w", name, err)
	}
	output, err := withApplied(write.declared.OutputSchema)
	if err != nil {
		return fmt.Errorf("capability %q: %w", name, err)
	}
	md := &write.declared.Metadata
	md.Reconcile = &contracts.CapabilityCall{Capability: FindPrefix + name, ParamMap: given}
	verify := contracts.VerifyRule{WithinMS: 5000}
	if md.Verify != nil {
		verify = *md.Verify
	}
	yes := any(true)
	verify.Capability, verify.ParamMap = cmp.Or(verify.Capability, FindPrefix+name), given
	verify.Assertions = slices.Insert(slices.Clone(verify.Assertions), 0, contracts.Condition{Path: "facts.applied", Equals: &yes})
	md.Verify = &verify
	return AddRaw(s, Capability{
		Name: FindPrefix + name, Description: "Tells whether a call of " + name + " took place, and what it did.",
		Metadata: contracts.Metadata{
			SideEffectClass: contracts.ClassRead, ExecutionMode: contracts.ModeParallelSafe, Idempotency: contracts.IdempotencyNotApplicable,
			RiskLevel: contracts.RiskRead, Routable: new(false), TimeoutMS: 10000,
		},
		Schema: input, OutputSchema: output,
	}, handler)
}

// withApplied returns the schema of a write's facts with the member applied. No other fact is
// required, because a write that did not happen has none.
func withApplied(schema json.RawMessage) (json.RawMessage, error) {
	o, err := parseObject(schema)
	if err != nil {
		return nil, err
	}
	properties, _ := o.get("properties")
	all, is := properties.(*object)
	if !is {
		all = &object{}
	}
	all.set("applied", &object{members: []member{{"type", []any{"boolean", "null"}}}})
	o.set("properties", all)
	o.set("required", []any{"applied"})
	return json.Marshal(o)
}
