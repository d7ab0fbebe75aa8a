package reasoning

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// MaxOffered is how many capabilities one question offers a model.
const MaxOffered = 20

// maxProposals bounds the requests that are read out of one message.
const maxProposals = 20

const understandRules = `You read what a person writes and say which of the given functions it asks for, with the values that the person gave.
- Call a function once for each thing that is asked for, in the order of the message.
- Use only values that stand in the message or in the earlier turns. Leave out a parameter that nobody gave; never invent one.
- Where none of the functions does what is asked, or nothing is asked for, call nothing.
- What must not be done, was done already, or is only wondered about is not asked for.
%s`

// Question is a message to read.
type Question struct {
	Message string
	// Offered are the capabilities to choose among, best first; at most
	// MaxOffered are taken.
	Offered []*contracts.CapabilityEntry
	// Earlier are the turns before, oldest first, in compact form.
	Earlier []Message
	// Context are lines of facts about the asker, such as date and language.
	Context []string
}

// Proposal is one request as a model reads it. Nothing of it is judged yet.
type Proposal struct {
	Entry      *contracts.CapabilityEntry
	Parameters map[string]any
}

// Reading is what a model makes of a message.
type Reading struct {
	// Proposals are in the order of the model; none means that it finds no
	// request for what was offered.
	Proposals []Proposal
	// Dropped says what the model named that was not offered or cannot be
	// read, for the log.
	Dropped []string
	Calls   []contracts.ModelCall
}

// Understand asks for a reading of a message, in one call. On an error, an
// *Error, Reading holds what it cost; the local reading stands then.
func (m *Model) Understand(ctx context.Context, q Question) (Reading, error) {
	tools, byName, err := toolsOf(q.Offered)
	if err != nil {
		return Reading{}, err
	}
	r := Request{
		System: contracts.CompactWords(fmt.Sprintf(understandRules, strings.Join(q.Context, "\n"))),
		Turns:  append(slices.Clip(q.Earlier), Message{Role: RoleUser, Text: contracts.CompactWords(q.Message)}),
		Tools:  tools,
	}
	reply, call, err := m.call(ctx, SizeSmall, contracts.PurposeUnderstand, r)
	reading := Reading{Calls: []contracts.ModelCall{call}}
	if err != nil {
		return reading, err
	}
	for i, c := range reply.Calls {
		if i == maxProposals {
			reading.Dropped = append(reading.Dropped, fmt.Sprintf("%d more calls", len(reply.Calls)-i))
			break
		}
		reading.take(c, byName)
	}
	return reading, nil
}

// take adds a call that names what was offered and has an object as arguments.
func (r *Reading) take(c ToolCall, byName map[string]*contracts.CapabilityEntry) {
	entry, offered := byName[c.Name]
	if !offered {
		r.Dropped = append(r.Dropped, fmt.Sprintf("%.64q was not offered", c.Name))
		return
	}
	parameters := map[string]any{}
	if raw := strings.TrimSpace(string(c.Arguments)); raw != "" {
		if err := contracts.Decode(json.RawMessage(raw), &parameters); err != nil || parameters == nil {
			r.Dropped = append(r.Dropped, fmt.Sprintf("the arguments of %q are no JSON object", c.Name))
			return
		}
	}
	r.Proposals = append(r.Proposals, Proposal{Entry: entry, Parameters: parameters})
}

// toolsOf makes the tools of capabilities and the way back from their names.
func toolsOf(offered []*contracts.CapabilityEntry) ([]Tool, map[string]*contracts.CapabilityEntry, error) {
	offered = offered[:min(len(offered), MaxOffered)]
	tools, byName := make([]Tool, 0, len(offered)), make(map[string]*contracts.CapabilityEntry, len(offered))
	for _, e := range offered {
		input, err := e.Input()
		if err != nil {
			return nil, nil, fmt.Errorf("schema of %s: %w", e.Ref(), err)
		}
		schema := map[string]any{"type": "object", "properties": map[string]any{}}
		if input != nil {
			if schema, err = asMap(input); err != nil {
				return nil, nil, err
			}
		}
		name := toolName(e, byName)
		byName[name] = e
		tools = append(tools, Tool{Name: name, Description: e.Capability.Description, Schema: schema})
	}
	return tools, byName, nil
}

// notInToolNames are the characters that vendors refuse in names of functions.
var notInToolNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// maxToolName is the vendors' bound.
const maxToolName = 64

// toolName is the namespaced name as vendors take it, and no other tool's.
func toolName(e *contracts.CapabilityEntry, taken map[string]*contracts.CapabilityEntry) string {
	base := notInToolNames.ReplaceAllString(e.Domain, "_") + "-" + notInToolNames.ReplaceAllString(e.Capability.Name, "_")
	name := base[:min(len(base), maxToolName)]
	for n := 2; taken[name] != nil; n++ {
		suffix := fmt.Sprintf("-%d", n)
		name = base[:min(len(base), maxToolName-len(suffix))] + suffix
	}
	return name
}
