package domainclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// Directory returns the addresses of domains. The registry implements it, because registrations
// change while calls are made.
type Directory interface {
	// Endpoint returns the address of a registered domain.
	Endpoint(domain string) (registry.Endpoint, bool)
	// Unauthorized is called when the domain rejects the server's credential.
	Unauthorized(domain string)
}

// Invoker calls /execute of domains. It is safe for concurrent use.
type Invoker struct {
	client    *Client
	directory Directory
}

var _ execution.Invoker = (*Invoker)(nil)

// Invoker returns an execution.Invoker for the domains of a directory.
func (c *Client) Invoker(d Directory) *Invoker { return &Invoker{client: c, directory: d} }

// Invoke executes one exchange. It returns every failure as a Reply.
func (i *Invoker) Invoke(ctx context.Context, call execution.Call) execution.Reply {
	domain := call.Entry.Domain
	at, ok := i.directory.Endpoint(domain)
	if !ok {
		return problem(execution.ReplyChanged, "the domain "+domain+" is not registered")
	}
	body, err := encodeCall(call)
	if err != nil {
		return problem(execution.ReplyInvalid, err.Error())
	}
	limit := contracts.MaxExchange
	if call.Timeout > 0 {
		limit = min(limit, call.Timeout)
	}
	l := i.client.lane(at)
	if wait, why := l.enter(ctx, limit); why != "" {
		reply := problem(execution.ReplyBusy, "the domain "+domain+" "+why+"; nothing was sent")
		reply.RetryAfter = wait
		return reply
	}
	o := outcomeBroken
	defer func() { l.leave(o) }()
	exchangeCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reply := i.client.execute(exchangeCtx, l, at, call, body)
	o = verdict(ctx, reply.Kind)
	if reply.Kind == execution.ReplyUnauthorized && reply.unauthenticated {
		i.directory.Unauthorized(domain)
	}
	return reply.Reply
}

func encodeCall(call execution.Call) ([]byte, error) {
	parameters := call.Parameters
	if parameters == nil {
		parameters = map[string]any{}
	}
	body, err := json.Marshal(contracts.ExecuteRequest{
		Capability: call.Entry.Capability.Name, Parameters: parameters, Context: call.Context,
	})
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the parameters are no JSON: %w", err)
	}
	if len(body) > contracts.MaxCallBytes {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "the call is larger than %d bytes", contracts.MaxCallBytes)
	}
	return body, nil
}

// verdict returns what a reply implies for the state of the domain. A call cancelled by its
// caller implies nothing.
func verdict(ctx context.Context, kind execution.ReplyKind) outcome {
	switch kind {
	case execution.ReplyNotSent, execution.ReplyBroken:
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return outcomeNeutral
		}
		return outcomeBroken
	default:
		return outcomeAlive
	}
}

// reply is a Reply with details for this package.
type reply struct {
	execution.Reply

	// unauthenticated distinguishes a rejected credential of the server (401) from a rejected
	// principal (403).
	unauthenticated bool
}

func problem(kind execution.ReplyKind, message string) execution.Reply {
	return execution.Reply{Kind: kind, Message: contracts.CleanSummary(message)}
}

// execute sends the request and converts the response.
func (c *Client) execute(ctx context.Context, l *lane, at registry.Endpoint, call execution.Call, body []byte) reply {
	writes := call.Entry.Policy.SideEffectClass.Writes()
	r := request{
		method: http.MethodPost, path: "/execute", body: body,
		header: map[string]string{
			"Content-Type": "application/json",
			"traceparent":  traceparent(call.Context.RunID),
		},
	}
	if call.SendKey && call.Context.IdempotencyKey != "" {
		r.header["Idempotency-Key"] = call.Context.IdempotencyKey
	}
	if !writes {
		r.repeats, r.again = 1, readAgain
	}
	resp, x, err := c.do(ctx, l, at, r)
	if err != nil {
		return reply{Reply: transportReply(err, x)}
	}
	defer func() { _ = resp.Body.Close() }()
	return l.judge(ctx, resp, call, c.cfg.Now())
}

// readAgain allows a retry of a read whose connection was dead before anything was written.
func readAgain(_ *http.Response, err error, x *exchange) bool {
	return err != nil && x.stale()
}

// transportReply returns the reply for an exchange without a response.
func transportReply(err error, x *exchange) execution.Reply {
	kind := execution.ReplyBroken
	ours, mine := errors.AsType[*contracts.Error](err)
	switch {
	case mine && ours.Code == contracts.CodeUnauthorized:
		return problem(execution.ReplyUnauthorized, ours.Message)
	case x.unsent():
		kind = execution.ReplyNotSent
	}
	reply := problem(kind, forPeople(err))
	reply.Timeout = errors.Is(err, context.DeadlineExceeded)
	return reply
}
