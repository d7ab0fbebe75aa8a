package domainkit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// request is the body of POST /execute. Parameters is kept as sent.
type request struct {
	Capability string                   `json:"capability"`
	Parameters json.RawMessage          `json:"parameters"`
	Context    contracts.ExecuteContext `json:"context"`
}

// job is one validated request.
type job struct {
	capability *served
	call       Call
	// parameters are canonical JSON without defaults; the fingerprint of the key covers them.
	parameters json.RawMessage
	// complete are the parameters with defaults, as the handler receives them.
	complete json.RawMessage
}

// executor executes requests, each idempotency key at most once. The store holds the state of the
// keys; running holds the executions of this process.
type executor struct {
	config  Config
	log     *slog.Logger
	slots   *limiter
	running *operations

	mu      sync.Mutex // guards sweptAt
	sweptAt time.Time  // when old keys were last removed
}

func (x *executor) execute(w http.ResponseWriter, r *http.Request, b *build) reply {
	req, fault := x.readRequest(w, r)
	if fault != nil {
		return *fault
	}
	c, ok := b.byName[req.Capability]
	if !ok {
		return refused(http.StatusNotFound, contracts.ErrNotFound, "there is no capability %q", req.Capability)
	}
	call := Call{ExecuteContext: req.Context, Capability: c.name, Traceparent: r.Header.Get("Traceparent")}
	if fault := readKey(r, c, &call); fault != nil {
		return *fault
	}
	if call.Operation != "" {
		return x.poll(r.Context(), c, call)
	}
	j, fault := newJob(c, call, req.Parameters)
	if fault != nil {
		return *fault
	}
	if fault := b.chooseInstance(&j.call); fault != nil {
		return *fault
	}
	return x.perform(r.Context(), j)
}

// readRequest reads exactly one JSON object. Unknown keys are ignored, because a newer core may
// send more.
func (x *executor) readRequest(w http.ResponseWriter, r *http.Request) (request, *reply) {
	var req request
	bad := func(status int, format string, args ...any) (request, *reply) {
		out := refused(status, contracts.ErrInvalidParameters, format, args...)
		return req, &out
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return bad(http.StatusUnsupportedMediaType, "the content type must be application/json")
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, x.config.MaxBodyBytes))
	if err := dec.Decode(&req); err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return bad(http.StatusRequestEntityTooLarge, "the request is larger than %d bytes", tooLarge.Limit)
		}
		return bad(http.StatusBadRequest, "the request is no JSON of the right form: %s", plainJSONError(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bad(http.StatusBadRequest, "there is more after the JSON object")
	}
	if req.Context.TimeoutMS < 0 {
		return bad(http.StatusBadRequest, "context.timeout_ms is negative")
	}
	return req, nil
}

const maxKeyBytes = 255

// readKey reads the idempotency key from the header or the context.
func readKey(r *http.Request, c *served, call *Call) *reply {
	header := r.Header.Get("Idempotency-Key")
	bad := func(format string, args ...any) *reply {
		out := refused(http.StatusBadRequest, contracts.ErrInvalidParameters, format, args...)
		return &out
	}
	if header != "" && call.IdempotencyKey != "" && header != call.IdempotencyKey {
		return bad("the header Idempotency-Key and context.idempotency_key differ")
	}
	call.IdempotencyKey = cmp.Or(call.IdempotencyKey, header)
	if len(call.IdempotencyKey) > maxKeyBytes {
		return bad("the idempotency key is longer than %d bytes", maxKeyBytes)
	}
	if c.keyed && call.IdempotencyKey == "" && call.Operation == "" && !call.DryRun {
		return bad("%s needs an idempotency key: the header Idempotency-Key or context.idempotency_key", c.name)
	}
	return nil
}

// newJob validates the parameters against the schema.
func newJob(c *served, call Call, raw json.RawMessage) (*job, *reply) {
	bad := func(message string, faults ...contracts.Fault) (*job, *reply) {
		refusal := Refusef(contracts.ErrInvalidParameters, "%s", contracts.Invalid(message, faults...).Error())
		if len(faults) > 0 {
			refusal.Detail = map[string]any{"faults": faults}
		}
		return nil, &reply{status: http.StatusBadRequest, body: contracts.ToolResult{
			Summary: contracts.CleanSummary(refusal.Message), Error: refusal,
		}}
	}
	if raw == nil || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if !isObject(raw) {
		return bad("parameters must be an object")
	}
	canonical, err := contracts.CanonicalBytes(raw)
	if err != nil {
		return bad("the parameters cannot be read")
	}
	parameters, err := decodeObject(canonical)
	if err != nil {
		return bad("the parameters cannot be read")
	}
	if faults := c.input.Validate(parameters); len(faults) > 0 {
		return bad("the parameters do not fit the schema of "+c.name, faults...)
	}
	complete := canonical
	if addDefaults(parameters, c.inputSchema) {
		if complete, err = json.Marshal(parameters); err != nil {
			return bad("the parameters cannot be read")
		}
	}
	return &job{capability: c, call: call, parameters: canonical, complete: complete}, nil
}

func decodeObject(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out map[string]any
	err := dec.Decode(&out)
	return out, err
}

// addDefaults fills in absent members that have a default, also in nested objects, and reports
// whether it added any.
func addDefaults(value map[string]any, schema *object) bool {
	v, _ := schema.get("properties")
	properties, ok := v.(*object)
	if !ok {
		return false
	}
	added := false
	for _, m := range properties.members {
		property, ok := m.value.(*object)
		if !ok {
			continue
		}
		present, exists := value[m.name]
		if inner, isObject := present.(map[string]any); isObject {
			added = addDefaults(inner, property) || added
			continue
		}
		if standard, has := property.get("default"); has && !exists {
			value[m.name] = standard
			added = true
		}
	}
	return added
}

// chooseInstance fills in the default instance and rejects an unknown one.
func (b *build) chooseInstance(call *Call) *reply {
	if call.Instance == "" {
		call.Instance = b.instance
		return nil
	}
	if len(b.instances) == 0 || slices.Contains(b.instances, call.Instance) {
		return nil
	}
	out := refused(http.StatusOK, contracts.ErrNotFound, "there is no instance %q; there are %q", call.Instance, b.instances)
	return &out
}

// perform executes a job and waits up to AcceptAfter for its result.
func (x *executor) perform(ctx context.Context, j *job) reply {
	c := j.capability
	if c.writes && j.call.DryRun && !c.dryRun {
		return refused(http.StatusOK, contracts.ErrPrecondition, "%s cannot be tried without effect", c.name)
	}
	if c.keyed && !j.call.DryRun {
		return x.keyed(ctx, j)
	}
	if busy := x.admit(c); busy != nil {
		return *busy
	}
	started, ok := x.launch(ctx, j, newToken(), func(ctx context.Context) answer { return x.run(ctx, j) })
	if !ok {
		return x.busy(0, "the service is stopping")
	}
	return x.await(ctx, started, x.config.AcceptAfter)
}

// admit acquires the slots for one execution, or answers 429.
func (x *executor) admit(c *served) *reply {
	now := x.config.Now()
	if ok, after := x.slots.take(now); !ok {
		out := x.busy(after, "too many executions at once")
		return &out
	}
	if ok, after := c.slots.take(now); !ok {
		x.slots.give()
		out := x.busy(after, "too many executions of "+c.name)
		return &out
	}
	return nil
}

func (x *executor) leave(c *served) {
	c.slots.give()
	x.slots.give()
}

// busy is a 429 answer: nothing was executed.
func (x *executor) busy(after time.Duration, why string) reply {
	refusal := Retryf(contracts.ErrBudget, "%s", why)
	return reply{
		status: http.StatusTooManyRequests, retryAfter: max(after, x.config.RetryAfter),
		body: contracts.ToolResult{Summary: why, Error: refusal},
	}
}

// answer is the outcome of an execution.
type answer struct {
	status     int
	result     contracts.ToolResult
	retryAfter time.Duration
}

// run calls the handler and validates its result. It never panics.
func (x *executor) run(ctx context.Context, j *job) (out answer) {
	c := j.capability
	begin := x.config.Now()
	defer func() {
		if p := recover(); p != nil {
			out = x.failed(ctx, c, fmt.Errorf("panic: %v", p))
		}
		x.logExecution(ctx, j, out, x.config.Now().Sub(begin))
	}()
	result, err := c.handler(ctx, j.call, j.complete)
	if err != nil {
		return x.failed(ctx, c, err)
	}
	return x.checked(ctx, c, result)
}

func (x *executor) failed(ctx context.Context, c *served, err error) answer {
	if w, ok := errors.AsType[*waiting](err); ok && !c.writes {
		why := contracts.CleanSummary(w.why)
		return answer{http.StatusTooManyRequests, contracts.ToolResult{Summary: why, Error: Retryf(contracts.ErrBudget, "%s", why)}, w.after}
	}
	out := answer{status: http.StatusOK}
	if contracts.CodeOf(err) == contracts.CodeForbidden {
		out.status = http.StatusForbidden
	}
	failure := x.failure(ctx, c, err)
	out.result = contracts.ToolResult{Summary: contracts.CleanSummary(failure.Message), Error: failure}
	return out
}

// checked validates a result against the output schema and the size limits. A read that breaks them
// fails. A write has already happened: its facts are returned anyway, for the core to record,
// unless the answer is too large.
func (x *executor) checked(ctx context.Context, c *served, result contracts.ToolResult) answer {
	if !result.OK {
		if result.Error == nil {
			result.Error = &contracts.ToolError{Type: contracts.ErrInternal, Message: "failed without a reason"}
		}
		return answer{status: http.StatusOK, result: result}
	}
	if c.outputSchema != nil && result.Facts != nil {
		fillLists(result.Facts, c.outputSchema)
	}
	bound, faults := contracts.BoundResult(result, c.writes, c.output)
	if c.writes {
		bound.Facts = result.Facts
	}
	if tooLarge(bound) {
		faults = append(faults, contracts.Fault{Message: fmt.Sprintf("has more than %d bytes", contracts.MaxAnswerBytes)})
		bound = contracts.ToolResult{OK: true, Summary: bound.Summary}
	}
	if len(faults) == 0 {
		return answer{status: http.StatusOK, result: bound}
	}
	fault := contracts.Invalid("the answer breaks its contract", faults...)
	x.log.ErrorContext(ctx, "bad answer", slog.String("capability", c.name), slog.Any("error", fault))
	if c.writes {
		return answer{status: http.StatusOK, result: bound}
	}
	failure := Failf(contracts.ErrInternal, contracts.EffectNone, "%s", fault.Error())
	return answer{status: http.StatusOK, result: contracts.ToolResult{Summary: contracts.CleanSummary(failure.Message), Error: failure}}
}

// tooLarge reports whether a result exceeds the size of one answer.
func tooLarge(r contracts.ToolResult) bool {
	size := len(r.Data.Reveal())
	for name, raw := range r.Artifacts {
		size += len(name) + len(raw)
	}
	raw, err := json.Marshal(r.Facts)
	return err != nil || size+len(raw) > contracts.MaxAnswerBytes-(64<<10)
}

func (x *executor) logExecution(ctx context.Context, j *job, out answer, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("capability", j.capability.name), slog.String("run_id", j.call.RunID),
		slog.String("node_id", j.call.NodeID), slog.Bool("ok", out.result.OK), slog.Duration("took", took),
	}
	if out.result.Error != nil {
		attrs = append(attrs, slog.String("error_type", out.result.Error.Type))
	}
	x.log.LogAttrs(ctx, slog.LevelInfo, "executed", attrs...)
}
