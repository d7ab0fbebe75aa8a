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

// FlowType is the type of a flow.
type FlowType string

// The types, in upper case as the server requires.
const (
	Chatflow   FlowType = "CHATFLOW"
	Agentflow  FlowType = "AGENTFLOW"
	MultiAgent FlowType = "MULTIAGENT"
	Assistant  FlowType = "ASSISTANT"
)

// Flow is a chatflow of any type as the server stores it. Members that contain JSON are strings, as
// on the server; unset members are nil.
type Flow struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Type FlowType `json:"type"`
	// FlowData is the graph, byte by byte as saved.
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
	// CreatedDate and UpdatedDate have a resolution of 1 s. To detect an edit, compare FlowData
	// instead.
	CreatedDate time.Time `json:"createdDate"`
	UpdatedDate time.Time `json:"updatedDate"`
}

// NewFlow is a flow to create. ID, Name, Type and FlowData are required.
type NewFlow struct {
	// ID is chosen by the caller, so that a retry does not create a second flow.
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

// FlowChange is a change of a flow; nil members stay unchanged.
type FlowChange struct {
	Name     *string `json:"name,omitempty"`
	FlowData *string `json:"flowData,omitempty"`
	Deployed *bool   `json:"deployed,omitempty"`
	Category *string `json:"category,omitempty"`
}

// Apply applies the change to f.
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

// FlowQuery selects flows for ListFlows; the zero value selects the first page of every type.
type FlowQuery struct {
	Type FlowType
	// Page is the number of the page from 1 [1]; Limit is its size [100].
	Page, Limit int
}

// FlowPage is one page of the list of flows, last changed first, with the total number.
type FlowPage struct {
	Flows []Flow
	Total int
}

// FlowID derives the id of a flow from an idempotency key. The same key gives the same UUID
// (version 8).
func FlowID(namespace, key string) string {
	sum := sha256.Sum256([]byte(namespace + "\x00" + key))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	text := hex.EncodeToString(sum[:16])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// validID reports whether id is a UUID. The server saves any id, but refuses to read or delete one
// that is not a UUID.
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

// ListFlows returns a page of flows with their graphs.
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

// GetFlow returns one flow.
func (c *Client) GetFlow(ctx context.Context, id string) (Flow, error) {
	op, err := flowCall(http.MethodGet, id)
	if err != nil {
		return Flow{}, err
	}
	var f Flow
	err = c.get(ctx, op.path, op.label, &f)
	return f, err
}

// CreateFlow creates a flow under the given id. The server's POST overwrites an existing flow, so
// CreateFlow looks it up first: it returns an equal flow, and fails with a conflict for a different
// one. After a lost or invalid answer it looks the flow up again.
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

// UpdateFlow changes a flow. The server has no conditional write: the last write wins, and the
// caller must check for concurrent edits.
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

// heldBy reports whether the flow already has the changed values.
func (ch FlowChange) heldBy(f Flow) bool {
	deployed, category := f.Deployed != nil && *f.Deployed, ""
	if f.Category != nil {
		category = *f.Category
	}
	return (ch.Name == nil || *ch.Name == f.Name) && (ch.FlowData == nil || *ch.FlowData == f.FlowData) &&
		(ch.Deployed == nil || *ch.Deployed == deployed) && (ch.Category == nil || *ch.Category == category)
}

// checkRow checks that the answer is about the requested flow.
func checkRow(op call, f Flow, id string) error {
	if f.ID == id {
		return nil
	}
	return &Error{Op: op.name(), Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer is not about this flow", Effect: contracts.EffectUnknown}
}

// lookTimeout is the timeout of the look-up after a write.
const lookTimeout = 10 * time.Second

// afterWrite looks up the outcome of a write without a valid answer. If the flow has the new state,
// the write succeeded. If the server itself answered 500, the request has ended, so the state of
// the flow is final. After a lost answer an unchanged flow proves nothing, because the request may
// still arrive.
func (c *Client) afterWrite(ctx context.Context, err error, id string, done func(Flow) bool) (Flow, error) {
	failure, is := AsError(err)
	if !is || failure.Effect != contracts.EffectUnknown {
		return Flow{}, err
	}
	// The caller's context may have ended; the outcome is still needed.
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

// DeleteFlow deletes a flow with its messages. For a missing flow it returns an Error of kind not
// found.
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
