package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// exchange is one HTTP response of the service.
type exchange struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

func (s *suite) send(ctx context.Context, method, path string, body []byte, headers map[string]string) (exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return exchange{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if s.opt.Authorization != "" {
		r.Header.Set("Authorization", s.opt.Authorization)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("traceparent", traceparent())
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	begin := time.Now()
	response, err := s.client.Do(r)
	if err != nil {
		return exchange{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // the body has been read
	raw, err := io.ReadAll(io.LimitReader(response.Body, contracts.MaxAnswerBytes+1))
	if err != nil {
		return exchange{}, fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return exchange{response.StatusCode, response.Header, raw, time.Since(begin)}, nil
}

// traceparent returns a random W3C trace context; the core sends one with every request.
func traceparent() string {
	var id [24]byte
	_, _ = rand.Read(id[:]) // it never fails
	return "00-" + hex.EncodeToString(id[:16]) + "-" + hex.EncodeToString(id[16:]) + "-01"
}

// excerpt returns the start of the response for a message.
func (e exchange) excerpt() string {
	text := contracts.CleanSummary(string(e.body))
	if runes := []rune(text); len(runes) > 120 {
		text = string(runes[:120]) + "…"
	}
	return text
}

// outcome is the result of a call.
type outcome struct {
	exchange
	result contracts.ToolResult
	// isResult reports whether the response is a ToolResult or other JSON that the core would wrap
	// as one; bare is set in the second case.
	isResult bool
	bare     bool
	why      error
}

func newKey() string { return "conformance/" + rand.Text() + "/1" }

// call returns the request that the core would send for a capability.
func (s *suite) call(c *contracts.Capability, parameters map[string]any) contracts.ExecuteRequest {
	policy := policyOf(c)
	digest, err := contracts.CapabilityDigest(c, policy)
	if err != nil {
		digest = "" // reported by the manifest check
	}
	return contracts.ExecuteRequest{Capability: c.Name, Parameters: parameters, Context: contracts.ExecuteContext{
		RunID: "conformance", NodeID: "n1", Attempt: 1, TimeoutMS: policy.TimeoutMS, Instance: s.instance,
		Deadline: time.Now().Add(policy.Timeout()).UTC(), CapabilityDigest: digest,
		Principal: contracts.Principal{ID: "conformance", Roles: s.roles()},
	}}
}

// roles returns all roles in the manifest, so that the calls of the suite are allowed for every
// subject.
func (s *suite) roles() []string {
	var out []string
	for _, c := range s.manifest.Capabilities {
		out = append(out, c.Metadata.AllowedRoles...)
		for _, spec := range c.Metadata.ParameterSpecs {
			if spec.Subject != nil {
				out = append(out, spec.Subject.All...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func policyOf(c *contracts.Capability) contracts.Policy {
	return c.Metadata.Policy(c.Metadata.Compensation != nil)
}

// execute sends a call and polls after a 202 until the capability's timeout.
func (s *suite) execute(ctx context.Context, c *contracts.Capability, request contracts.ExecuteRequest) (outcome, error) {
	policy, begin := policyOf(c), time.Now()
	headers := map[string]string{}
	keyed := policy.Idempotency == contracts.IdempotencyKeyed || policy.Idempotency == contracts.IdempotencyNatural
	if keyed && request.Context.IdempotencyKey != "" {
		headers["Idempotency-Key"] = request.Context.IdempotencyKey
	}
	for {
		body, err := json.Marshal(request)
		if err != nil {
			return outcome{}, fmt.Errorf("call of %s: %w", c.Name, err)
		}
		got, err := s.send(ctx, http.MethodPost, "/execute", body, headers)
		if err != nil {
			return outcome{}, err
		}
		operation, pause := acceptedBy(got)
		if operation == "" || time.Since(begin) > policy.Timeout() {
			out := outcomeOf(c, got)
			out.took = time.Since(begin)
			return out, nil
		}
		request.Context.Operation = operation
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return outcome{}, ctx.Err()
		}
	}
}

// acceptedBy returns the operation of a 202 and how long to wait before polling.
func acceptedBy(e exchange) (operation string, pause time.Duration) {
	var accepted contracts.Accepted
	if e.status != http.StatusAccepted || json.Unmarshal(e.body, &accepted) != nil {
		return "", 0
	}
	seconds, err := strconv.Atoi(e.header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return accepted.Operation, min(time.Duration(seconds)*time.Second, 10*time.Second)
}

func outcomeOf(c *contracts.Capability, e exchange) outcome {
	out := outcome{exchange: e}
	out.result, out.why = contracts.WrapResult(c.Name, e.status, e.header.Get("Content-Type"), e.body)
	out.isResult = out.why == nil
	var own struct {
		OK *bool `json:"ok"`
	}
	out.bare = out.isResult && (json.Unmarshal(e.body, &own) != nil || own.OK == nil)
	return out
}

// reason returns why a call did not succeed.
func (o outcome) reason() string {
	switch {
	case !o.isResult:
		return o.why.Error()
	case o.result.Error != nil:
		return o.result.Error.Type + ": " + o.result.Error.Message
	default:
		return o.result.Summary
	}
}
