package domainclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

const (
	// bigAnswer is the size in bytes from which a response needs one of the few slots for large
	// ones.
	bigAnswer = 1 << 20
	// maxProblemBytes is how much of an error response is read for its message.
	maxProblemBytes = 16 << 10
	// maxOperationChars is the maximum length of an operation id.
	maxOperationChars = 1024
)

// kindOf maps an HTTP status to a reply kind, as the contract defines.
func kindOf(status int) execution.ReplyKind {
	switch {
	case status == http.StatusOK:
		return execution.ReplyResult
	case status == http.StatusAccepted:
		return execution.ReplyAccepted
	case status == http.StatusBadRequest:
		return execution.ReplyInvalid
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return execution.ReplyUnauthorized
	case status == http.StatusNotFound, status == http.StatusPreconditionFailed:
		return execution.ReplyChanged
	case status == http.StatusConflict:
		return execution.ReplyConflict
	case status == http.StatusGone:
		return execution.ReplyGone
	case status == http.StatusTooManyRequests:
		return execution.ReplyBusy
	case status >= http.StatusMultipleChoices && status <= http.StatusSeeOther:
		return execution.ReplyBroken // frameworks redirect after completed work
	case status > http.StatusSeeOther && status < 500:
		return execution.ReplyRefused
	default: // 5xx, and a 2xx that the contract does not define
		return execution.ReplyBroken
	}
}

// judge converts a response to a reply.
func (l *lane) judge(ctx context.Context, resp *http.Response, call execution.Call, now time.Time) reply {
	kind := kindOf(resp.StatusCode)
	wait := retryAfter(resp.Header, now)
	var out execution.Reply
	switch kind {
	case execution.ReplyResult:
		out = l.result(ctx, resp, call.Entry)
	case execution.ReplyAccepted:
		out = accepted(resp)
	default:
		out = problem(kind, refusal(resp, kind == execution.ReplyBusy))
	}
	out.RetryAfter = wait
	return reply{Reply: out, unauthenticated: resp.StatusCode == http.StatusUnauthorized}
}

// result reads a 200 response: a ToolResult, bare JSON, or a broken response.
func (l *lane) result(ctx context.Context, resp *http.Response, entry *contracts.CapabilityEntry) execution.Reply {
	body, release, err := l.body(ctx, resp.Body, entry.Policy.SideEffectClass.Writes())
	defer release()
	if err == nil {
		err = checkEncoding(resp.Header)
	}
	if err != nil {
		return brokenAnswer(ctx, err)
	}
	result, err := contracts.WrapResult(entry.Capability.Name, resp.StatusCode, resp.Header.Get("Content-Type"), body)
	if err != nil {
		return brokenAnswer(ctx, err)
	}
	result, faults := contracts.BoundResult(result, entry.Policy.SideEffectClass.Writes(), outputOf(entry))
	return execution.Reply{Kind: execution.ReplyResult, Result: result, Faults: faults}
}

func brokenAnswer(ctx context.Context, err error) execution.Reply {
	out := problem(execution.ReplyBroken, plain(err).Error())
	out.Timeout = ctx.Err() != nil
	return out
}

// body reads a response within its limits. release returns the slot of a large response; it must
// be called after decoding. The response to a write never waits for a slot, because a person
// would have to find out the outcome if it were lost.
func (l *lane) body(ctx context.Context, from io.Reader, writes bool) (data []byte, release func(), err error) {
	release = func() {}
	data, err = io.ReadAll(io.LimitReader(from, bigAnswer))
	if err != nil || len(data) < bigAnswer {
		return data, release, err
	}
	if !writes {
		select {
		case l.big <- struct{}{}:
			release = func() { <-l.big }
		case <-ctx.Done():
			return nil, release, ctx.Err()
		}
	}
	rest, err := readAll(from, contracts.MaxAnswerBytes-bigAnswer)
	if contracts.CodeOf(err) == contracts.CodeTooLarge {
		err = fmt.Errorf("it is larger than %d bytes", contracts.MaxAnswerBytes)
	}
	return append(data, rest...), release, err
}

// accepted reads a 202 response. Without an operation id the outcome cannot be polled, so it is a
// broken response.
func accepted(resp *http.Response) execution.Reply {
	var body contracts.Accepted
	data, err := readAll(resp.Body, maxProblemBytes)
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	if err != nil || body.Operation == "" || len(body.Operation) > maxOperationChars {
		return problem(execution.ReplyBroken, "it answered 202 without an operation to ask for")
	}
	return execution.Reply{Kind: execution.ReplyAccepted, Operation: body.Operation, Progress: body.Progress}
}

// refusal returns the message for a response that is neither a result nor accepted work,
// including the domain's message. With bare, it is the domain's message alone, if there is one.
func refusal(resp *http.Response, bare bool) string {
	text := fmt.Sprintf("it answered %d", resp.StatusCode)
	if name := http.StatusText(resp.StatusCode); name != "" {
		text += " " + name
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxProblemBytes))
	if err != nil || len(data) == 0 {
		return text
	}
	switch said := messageIn(data); {
	case said != "" && bare:
		return said
	case said != "":
		return text + ": " + said
	}
	return text
}

// messageIn returns the message of an error body in one of the usual formats.
func messageIn(data []byte) string {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
		Title   string          `json:"title"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return ""
	}
	var nested struct {
		Message string `json:"message"`
	}
	var said string
	if json.Unmarshal(body.Error, &nested) != nil || nested.Message == "" {
		_ = json.Unmarshal(body.Error, &said) // other formats contain no message
	}
	for _, text := range []string{nested.Message, said, body.Message, body.Detail, body.Title} {
		if text != "" {
			return text
		}
	}
	return ""
}

// outputOf returns the output schema of a capability, nil if it has none. It was compiled at
// admission. If it does not compile now, the response is accepted unchecked rather than lost.
func outputOf(entry *contracts.CapabilityEntry) *contracts.Schema {
	schema, err := entry.Output()
	if err != nil {
		return nil
	}
	return schema
}
