package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// FlowType is what kind of canvas a flow was drawn on.
type FlowType string

// The types. The server wants them in upper case.
const (
	Chatflow   FlowType = "CHATFLOW"
	Agentflow  FlowType = "AGENTFLOW"
	MultiAgent FlowType = "MULTIAGENT"
	Assistant  FlowType = "ASSISTANT"
)

// Flow is one row of the server: a chatflow of any type. Members that hold JSON
// are strings here as they are there; those that were never set are nil.
type Flow struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Type FlowType `json:"type"`
	// FlowData is the graph, byte for byte as it was saved.
	FlowData        string  `json:"flowData"`
	Deployed        *bool   `json:"deployed"`
	IsPublic        *bool   `json:"isPublic"`
	APIKeyID        *string `json:"apikeyid"`
	ChatbotConfig   *string `json:"chatbotConfig"`
	APIConfig       *string `json:"apiConfig"`
	Analytic        *string `json:"analytic"`
	SpeechToText    *string `json:"speechToText"`
	TextToSpeech    *string `json:"textToSpeech"`
	FollowUpPrompts *string `json:"followUpPrompts"`
	Category        *string `json:"category"`
	// CreatedDate and UpdatedDate are whole seconds: two edits within one
	// second have the same date, so compare FlowData instead.
	CreatedDate time.Time `json:"createdDate"`
	UpdatedDate time.Time `json:"updatedDate"`
}

// NewFlow is a flow to create. ID, Name, Type and FlowData are required.
type NewFlow struct {
	// ID is chosen by the caller, so that a repeat creates nothing twice.
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Type            FlowType `json:"type"`
	FlowData        string   `json:"flowData"`
	Deployed        *bool    `json:"deployed,omitempty"`
	IsPublic        *bool    `json:"isPublic,omitempty"`
	ChatbotConfig   *string  `json:"chatbotConfig,omitempty"`
	APIConfig       *string  `json:"apiConfig,omitempty"`
	Analytic        *string  `json:"analytic,omitempty"`
	SpeechToText    *string  `json:"speechToText,omitempty"`
	TextToSpeech    *string  `json:"textToSpeech,omitempty"`
	FollowUpPrompts *string  `json:"followUpPrompts,omitempty"`
	Category        *string  `json:"category,omitempty"`
}

// FlowChange is what to change about a flow; what is nil stays.
type FlowChange struct {
	Name     *string `json:"name,omitempty"`
	FlowData *string `json:"flowData,omitempty"`
	Deployed *bool   `json:"deployed,omitempty"`
	Category *string `json:"category,omitempty"`
}

// Apply makes the change to a row.
func (ch FlowChange) Apply(f *Flow) {
	if ch.Name != nil {
		f.Name = *ch.Name
	}
	if ch.FlowData != nil {
		f.FlowData = *ch.FlowData
	}
	if ch.Deployed != nil {
		f.Deployed = ch.Deployed
	}
	if ch.Category != nil {
		f.Category = ch.Category
	}
}

// FlowQuery chooses flows to list; the zero value means the first page of every
// type.
type FlowQuery struct {
	Type FlowType
	// Page counts from 1 [1]; Limit is how many it has [100].
	Page, Limit int
}

// FlowPage is a part of the list of flows, newest change first, and how many
// there are.
type FlowPage struct {
	Flows []Flow
	Total int
}

// FlowID makes the id of a flow from an idempotency key: the same key gives the
// same UUID (version 8), and another key another.
func FlowID(namespace, key string) string {
	sum := sha256.Sum256([]byte(namespace + "\x00" + key))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	text := hex.EncodeToString(sum[:16])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// validID reports whether the server will find the id again: it saves any text as
// an id, and then refuses to read or delete what is no UUID.
func validID(id string) bool {
	ok, err := regexp.MatchString(`^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
	return ok && err == nil
}

func flowCall(method, id string) (call, error) {
	op := call{method: method, path: "/chatflows/" + url.PathEscape(id), label: "/chatflows/:id"}
	if !validID(id) {
		return op, &Error{Op: op.name(), Kind: KindInvalid, Message: fmt.Sprintf("%q is no UUID in lower case, so it is no id of a flow", id), Effect: contracts.EffectNone}
	}
	return op, nil
}

// ListFlows lists a page of the flows, with their whole graphs.
func (c *Client) ListFlows(ctx context.Context, q FlowQuery) (FlowPage, error) {
	query := url.Values{"page": {strconv.Itoa(cmp.Or(q.Page, 1))}, "limit": {strconv.Itoa(cmp.Or(q.Limit, 100))}}
	if q.Type != "" {
		query.Set("type", string(q.Type))
	}
	var page struct {
		Data  []Flow `json:"data"`
		Total int    `json:"total"`
	}
	err := c.get(ctx, "/chatflows?"+query.Encode(), "/chatflows", &page)
	return FlowPage{Flows: page.Data, Total: page.Total}, err
}

// GetFlow reads one flow.
func (c *Client) GetFlow(ctx context.Context, id string) (Flow, error) {
	op, err := flowCall(http.MethodGet, id)
	if err != nil {
		return Flow{}, err
	}
	var f Flow
	err = c.get(ctx, op.path, op.label, &f)
	return f, err
}

// CreateFlow creates a flow under the caller's id. The server's POST overwrites
// a flow that has the id, so it is looked up first: the same flow is returned
// as it is, any other is a conflict. After a lost or bad answer it is looked up
// again.
func (c *Client) CreateFlow(ctx context.Context, f NewFlow) (Flow, error) {
	if _, err := flowCall(http.MethodPost, f.ID); err != nil {
		return Flow{}, err
	}
	op := call{method: http.MethodPost, path: "/chatflows"}
	present, err := c.GetFlow(ctx, f.ID)
	switch {
	case err == nil && present.is(f):
		return present, nil
	case err == nil:
		return present, &Error{Op: op.name(), Kind: KindConflict, Message: "a flow with this id exists and is another one: " + strconv.Quote(present.Name), Effect: contracts.EffectNone}
	case !IsKind(err, KindNotFound):
		return Flow{}, err
	}
	var made Flow
	if err := c.send(ctx, op, f, &made); err != nil {
		return c.afterWrite(ctx, err, f.ID, func(now Flow) bool { return now.is(f) })
	}
	return made, checkRow(op, made, f.ID)
}

func (f Flow) is(n NewFlow) bool {
	return f.ID == n.ID && f.Name == n.Name && f.Type == n.Type && f.FlowData == n.FlowData
}

// UpdateFlow changes a flow. The server has no condition for that: the last
// write wins, and what was changed meanwhile is for the caller to look at.
func (c *Client) UpdateFlow(ctx context.Context, id string, change FlowChange) (Flow, error) {
	op, err := flowCall(http.MethodPut, id)
	if err != nil {
		return Flow{}, err
	}
	var changed Flow
	if err := c.send(ctx, op, change, &changed); err != nil {
		return c.afterWrite(ctx, err, id, change.heldBy)
	}
	return changed, checkRow(op, changed, id)
}

// heldBy reports whether the flow is as the change wants it.
func (ch FlowChange) heldBy(f Flow) bool {
	deployed, category := f.Deployed != nil && *f.Deployed, ""
	if f.Category != nil {
		category = *f.Category
	}
	return (ch.Name == nil || *ch.Name == f.Name) && (ch.FlowData == nil || *ch.FlowData == f.FlowData) &&
		(ch.Deployed == nil || *ch.Deployed == deployed) && (ch.Category == nil || *ch.Category == category)
}

// checkRow makes sure that the answer is about the flow that was meant.
func checkRow(op call, f Flow, id string) error {
	if f.ID == id {
		return nil
	}
	return &Error{Op: op.name(), Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer is not about this flow", Effect: contracts.EffectUnknown}
}

// lookTimeout bounds the look at what a write did.
const lookTimeout = 10 * time.Second

// afterWrite looks up the outcome of a write that got no good answer. When the
// answer was lost and the flow is as it should be, the write succeeded. When
// the server itself said 500, it is done with the request: the flow tells
// whether it was saved all the same. A lost answer and an unchanged flow prove
// nothing, because the request may still be on its way.
func (c *Client) afterWrite(ctx context.Context, err error, id string, done func(Flow) bool) (Flow, error) {
	failure, is := AsError(err)
	if !is || failure.Effect != contracts.EffectUnknown {
		return Flow{}, err
	}
	// The caller's time may be up; it is still worth knowing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	now, lookErr := c.GetFlow(ctx, id)
	answered := failure.Kind == KindFailed
	switch {
	case lookErr == nil && done(now) && !answered:
		return now, nil
	case lookErr == nil && done(now):
		return now, failure.with(contracts.EffectApplied)
	case answered && (lookErr == nil || IsKind(lookErr, KindNotFound)):
		return now, failure.with(contracts.EffectNone)
	}
	return Flow{}, err
}

func (e *Error) with(effect contracts.Effect) *Error {
	out := *e
	out.Effect = effect
	return &out
}

// DeleteFlow deletes a flow with its messages. One that is not there is an
// Error of kind not found.
func (c *Client) DeleteFlow(ctx context.Context, id string) error {
	op, err := flowCall(http.MethodDelete, id)
	if err != nil {
		return err
	}
	err = c.send(ctx, op, nil, nil)
	if failure, is := AsError(err); !is || failure.Effect != contracts.EffectUnknown {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout) // as in afterWrite
	defer cancel()
	if _, lookErr := c.GetFlow(ctx, id); IsKind(lookErr, KindNotFound) {
		return nil
	}
	return err
}
