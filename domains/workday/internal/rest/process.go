package rest

import (
	"context"
	"net/url"
)

// Event is an instance of a business process.
type Event struct {
	ID         string `json:"id"`
	Descriptor string `json:"descriptor"`
	Status     Ref    `json:"status"`
	For        Ref    `json:"for"`
	Initiator  Ref    `json:"initiator"`
	Effective  string `json:"effectiveDate"`
	Created    string `json:"creationDate"`
}

func (e Event) identity() string { return e.ID }

// EventComment is a comment on an event.
type EventComment struct {
	Comment string `json:"comment"`
}

func (EventComment) identity() string { return "" }

// Step is a step of an event.
type Step struct {
	ID         string         `json:"id"`
	Descriptor string         `json:"descriptor"`
	Event      Ref            `json:"event"`
	Process    Ref            `json:"businessProcess"`
	Status     Ref            `json:"status"`
	Awaiting   []Ref          `json:"awaitingPersons"`
	Comments   []EventComment `json:"comments"`
	Created    string         `json:"creationDate"`
	Due        string         `json:"dueDate"`
	DoneBy     Ref            `json:"completedByPerson"`
}

func (s Step) identity() string { return s.ID }

// OpenSteps returns the steps of an event that await somebody.
func (c *Client) OpenSteps(ctx context.Context, event string) ([]Step, error) {
	page, err := list[Step](ctx, c, c.cfg.Paths.Process+"/events/"+url.PathEscape(event)+"/inProgressSteps", nil, 100)
	return page.Items, err
}

// CompletedSteps returns the completed steps of an event.
func (c *Client) CompletedSteps(ctx context.Context, event string) ([]Step, error) {
	page, err := list[Step](ctx, c, c.cfg.Paths.Process+"/events/"+url.PathEscape(event)+"/completedSteps", nil, 100)
	return page.Items, err
}

// ProcessTypes returns the types of business processes of the tenant.
func (c *Client) ProcessTypes(ctx context.Context) ([]Ref, error) {
	page, err := list[Ref](ctx, c, c.cfg.Paths.Process+"/types", nil, 2000)
	return page.Items, err
}

// Event returns one event.
func (c *Client) Event(ctx context.Context, id string) (Event, error) {
	var e Event
	err := c.get(ctx, c.cfg.Paths.Process+"/events/"+url.PathEscape(id), nil, &e)
	return e, err
}

// Events returns the events about a worker, newest first.
func (c *Client) Events(ctx context.Context, worker string) ([]Event, error) {
	page, err := list[Event](ctx, c, c.cfg.Paths.Process+"/events", url.Values{"worker": {worker}}, 500)
	return page.Items, err
}

// EventComments returns the comments on an event.
func (c *Client) EventComments(ctx context.Context, id string) ([]EventComment, error) {
	page, err := list[EventComment](ctx, c, c.cfg.Paths.Process+"/events/"+url.PathEscape(id)+"/comments", nil, 500)
	return page.Items, err
}

// CancelEvent cancels an event that is not complete.
func (c *Client) CancelEvent(ctx context.Context, id, comment string) error {
	var out Ref // the answer repeats the id
	return c.post(ctx, c.cfg.Paths.Process+"/events/"+url.PathEscape(id)+"/cancel", map[string]string{"id": id, "comment": comment}, &out)
}
