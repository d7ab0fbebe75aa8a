package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Question is a question to a flow.
type Question struct {
	Question string `json:"question,omitempty"`
	// Form holds the form values of a flow that starts with a form. The server rejects a question
	// in addition.
	Form map[string]any `json:"form,omitempty"`
	// ChatID continues a chat [a new one], unless Override selects another one by its sessionId.
	ChatID string `json:"chatId,omitempty"`
	// Override replaces inputs of nodes. The server silently ignores it unless the flow's apiConfig
	// permits each input.
	Override map[string]any `json:"overrideConfig,omitempty"`
}

// UsedTool is one use of a tool for an answer.
type UsedTool struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"toolInput"`
	Output json.RawMessage `json:"toolOutput"`
}

// Step is one executed node of an agent flow.
type Step struct {
	NodeID string          `json:"nodeId"`
	Label  string          `json:"nodeLabel"`
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"`
}

// Answer is the answer of a flow.
type Answer struct {
	Text          string          `json:"text"`
	JSON          json.RawMessage `json:"json"`
	Question      string          `json:"question"`
	ChatID        string          `json:"chatId"`
	ChatMessageID string          `json:"chatMessageId"`
	SessionID     string          `json:"sessionId"`
	ExecutionID   string          `json:"executionId"`
	UsedTools     []UsedTool      `json:"usedTools"`
	Sources       json.RawMessage `json:"sourceDocuments"`
	Steps         []Step          `json:"agentFlowExecutedData"`
	// Raw is the whole answer, or nil for a streamed one.
	Raw json.RawMessage `json:"-"`
	// Streamed means that the answer was streamed.
	Streamed bool `json:"-"`
}

// predictionAnswer is the server's answer. Text may be any value that a custom function returned.
type predictionAnswer struct {
	Answer
	Text json.RawMessage `json:"text"`
}

// Predict asks a flow and waits for the answer. It is sent once, because flows may have effects. A
// failed flow is an Error of kind failed.
func (c *Client) Predict(ctx context.Context, id string, q Question) (Answer, error) {
	return c.predict(ctx, id, q, nil)
}

// Stream asks a flow, calls each for every event, and returns the complete answer. For a flow that
// cannot stream, each is not called. An error of each ends the prediction.
func (c *Client) Stream(ctx context.Context, id string, q Question, each func(Event) error) (Answer, error) {
	return c.predict(ctx, id, q, each)
}

func (c *Client) predict(ctx context.Context, id string, q Question, each func(Event) error) (Answer, error) {
	op := call{method: http.MethodPost, path: "/prediction/" + id, label: "/prediction/:id", area: areaPrediction}
	if _, err := flowCall(http.MethodPost, id); err != nil {
		return Answer{}, err
	}
	body, err := encode(struct {
		Question
		Streaming bool `json:"streaming"`
	}{q, each != nil})
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", op.name(), err)
	}
	op.body = body
	release, err := c.enter(ctx, c.predicting, op)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.PredictTimeout)
	defer cancel()
	return c.ask(ctx, op, each)
}

func (c *Client) ask(ctx context.Context, op call, each func(Event) error) (Answer, error) {
	req, err := c.request(ctx, op)
	if err != nil {
		return Answer{}, err
	}
	if each != nil {
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	res, err := c.predictions.Do(req)
	if err == nil && contentType(res.Header) == "text/event-stream" {
		out, err := c.follow(ctx, op, res.Body, each)
		_ = res.Body.Close() // read completely, or abandoned
		return out, err
	}
	// It is unknown whether the question arrived; the flow may have had effects.
	got, err := c.finish(ctx, op, res, err, true)
	if err != nil {
		return Answer{}, err
	}
	raw, err := c.read(ctx, op, got)
	if err != nil {
		return Answer{}, err
	}
	return readAnswer(op, raw)
}

func readAnswer(op call, raw []byte) (Answer, error) {
	var got predictionAnswer
	if err := decode(op, raw, &got); err != nil {
		return Answer{}, err
	}
	out := got.Answer
	out.Text, out.Raw = looseText(got.Text), raw
	return out, nil
}

// looseText returns a JSON string as text and any other value as JSON.
func looseText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// failed returns the error of a flow that failed after its stream had started with status 200.
func failed(op call, message string) error {
	return &Error{Op: op.name(), Kind: KindFailed, Status: http.StatusOK, Message: cut(strings.TrimSpace(message)), Effect: contracts.EffectUnknown}
}
