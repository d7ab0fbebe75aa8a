package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/manifold-run/manifold/contracts"
)

// Event is one event of a streamed answer: start, token, metadata, usedTools, sourceDocuments,
// agentFlowEvent, nextAgentFlow, agentFlowExecutedData, calledTools, usageMetadata, error, end.
type Event struct {
	Name string          `json:"event"`
	Data json.RawMessage `json:"data"`
}

// Text returns the data of an event as text, for example a token.
func (e Event) Text() string { return looseText(e.Data) }

// errTooLong means that a stream exceeds the limit.
var errTooLong = errors.New("the stream is too long")

// readEvents reads Flowise's framing: a line "message:", sometimes without the colon, then "data:"
// with an object that contains the event's name. There is no "event:" line. It stops at the end
// event, and returns io.ErrUnexpectedEOF if that is missing.
func readEvents(r io.Reader, limit int64, each func(Event) error) error {
	lines := bufio.NewReader(io.LimitReader(r, limit+1))
	var read int64
	for {
		line, err := lines.ReadBytes('\n')
		if read += int64(len(line)); read > limit {
			return errTooLong
		}
		data, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if found && (err == nil || json.Valid(data)) {
			done, err := deliver(data, each)
			if done || err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}

func deliver(data []byte, each func(Event) error) (done bool, err error) {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, fmt.Errorf("event %q: %w", cut(string(data)), err)
	}
	if err := each(e); err != nil {
		return false, stopped{err}
	}
	return e.Name == "end", nil
}

// stopped wraps an error of the caller's function.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

// follow reads a stream to its end and assembles the answer.
func (c *Client) follow(ctx context.Context, op call, body io.Reader, each func(Event) error) (Answer, error) {
	out := Answer{Streamed: true}
	var failure error
	err := readEvents(body, c.cfg.MaxAnswer, func(e Event) error {
		if e.Name == "error" && failure == nil {
			failure = failed(op, e.Text())
		}
		out.add(e)
		if each == nil {
			return nil
		}
		return each(e)
	})
	var own stopped
	switch {
	case failure != nil:
		return out, failure
	case err == nil:
		return out, nil
	case errors.As(err, &own):
		return out, own.error
	case errors.Is(err, errTooLong):
		return out, &Error{Op: op.name(), Kind: KindTooLarge, Message: fmt.Sprintf("the answer is larger than %d bytes", c.cfg.MaxAnswer), Effect: contracts.EffectUnknown}
	case ctx.Err() != nil:
		return out, &Error{Op: op.name(), Kind: KindTimeout, Effect: contracts.EffectUnknown, Cause: err}
	default:
		return out, &Error{Op: op.name(), Kind: KindUnavailable, Message: "the stream broke off", Effect: contracts.EffectUnknown, Cause: err}
	}
}

// add adds an event to the answer. It ignores data of an unknown form; the event has been delivered
// unchanged.
func (a *Answer) add(e Event) {
	switch e.Name {
	case "token":
		a.Text += e.Text()
	case "metadata":
		var meta Answer
		if json.Unmarshal(e.Data, &meta) == nil {
			a.ChatID, a.ChatMessageID = meta.ChatID, meta.ChatMessageID
			a.Question, a.SessionID = meta.Question, meta.SessionID
		}
	case "usedTools":
		var used []UsedTool
		if json.Unmarshal(e.Data, &used) == nil {
			a.UsedTools = append(a.UsedTools, used...)
		}
	case "sourceDocuments":
		a.Sources = e.Data
	case "agentFlowExecutedData":
		var steps []Step
		if json.Unmarshal(e.Data, &steps) == nil {
			a.Steps = steps
		}
	}
}
