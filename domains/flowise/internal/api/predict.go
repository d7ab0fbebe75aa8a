package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Question is what to ask a flow.
type Question struct {
	Question string `json:"question,omitempty"`
	// Form holds the values of a flow that begins with a form; the server
	// refuses a question beside it.
	Form map[string]any `json:"form,omitempty"`
	// ChatID continues a conversation [a new one], unless Override names
	// another by its sessionId.
	ChatID string `json:"chatId,omitempty"`
	// Override replaces inputs of nodes; it is ignored, silently, unless the
	// flow's apiConfig permits each.
	Override map[string]any `json:"overrideConfig,omitempty"`
}

// UsedTool is one use of a tool on the way to an answer.
type UsedTool struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"toolInput"`
	Output json.RawMessage `json:"toolOutput"`
}

// Step is one node of an agent flow that was executed.
type Step struct {
	NodeID string          `json:"nodeId"`
	Label  string          `json:"nodeLabel"`
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"`
}

// Answer is what a flow answered.
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
	// Raw is the whole answer; of a stream, nil.
	Raw json.RawMessage `json:"-"`
	// Streamed means that it came in pieces.
	Streamed bool `json:"-"`
}

// predictionAnswer is what the server sends: text may be anything that a
// custom function returned.
type predictionAnswer struct {
	Answer
	Text json.RawMessage `json:"text"`
}

// Predict asks a flow and waits for the whole answer. It is sent once: flows may
// act on the world. A flow that fails is an Error of kind failed.
func (c *Client) Predict(ctx context.Context, id string, q Question) (Answer, error) {
	return c.predict(ctx, id, q, nil)
}

// Stream asks a flow and calls each for every event of the answer, which also
// comes as a whole at the end. A flow that cannot stream answers at once, and
// each is not called. An error of each ends the prediction.
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
		_ = res.Body.Close() // read to its end, or given up
		return out, err
	}
	// Whether the question arrived cannot be told; a flow may have acted.
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

// looseText returns a text as it is and anything else as JSON.
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

// failed makes the error of a flow that failed after its stream had begun,
// which is answered 200.
func failed(op call, message string) error {
	return &Error{Op: op.name(), Kind: KindFailed, Status: http.StatusOK, Message: cut(strings.TrimSpace(message)), Effect: contracts.EffectUnknown}
}
