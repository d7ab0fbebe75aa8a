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
	// bigAnswer is the size from which an answer needs one of its domain's few
	// places for big ones.
	bigAnswer = 1 << 20
	// maxProblemBytes is how much of a refusal is read, for its message.
	maxProblemBytes = 16 << 10
	// maxOperationChars bounds the id of accepted work.
	maxOperationChars = 1024
)

// kindOf is the contract's table of answers.
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
		return execution.ReplyBroken // frameworks answer so when the work is done
	case status > http.StatusSeeOther && status < 500:
		return execution.ReplyRefused
	default: // 5xx, and a 2xx that the contract does not know
		return execution.ReplyBroken
	}
}

// judge turns an answer into a reply.
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

// result reads a 200: a ToolResult or bare JSON, or an answer as good as none.
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

// body reads an answer within its limits. The release gives back the place
// that a big one takes; it must be called once the answer was decoded. What a
// write answers never waits for a place: were it lost, a person would have to
// find out the outcome of the write.
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

// accepted reads a 202. Without an operation nobody could ask for the
// outcome, so it is as good as no answer.
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

// refusal words an answer that is neither a result nor accepted work, with
// the message that the domain gave, if any. That alone says what a busy one waits for.
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

// messageIn finds the message in the usual shapes of an error body.
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
		_ = json.Unmarshal(body.Error, &said) // any other shape says nothing
	}
	for _, text := range []string{nested.Message, said, body.Message, body.Detail, body.Title} {
		if text != "" {
			return text
		}
	}
	return ""
}

// outputOf returns the schema of what a capability gives, nil if it has none.
// Admission has compiled it before; should it not compile now, the answer is taken
// unchecked rather than lost.
func outputOf(entry *contracts.CapabilityEntry) *contracts.Schema {
	schema, err := entry.Output()
	if err != nil {
		return nil
	}
	return schema
}
