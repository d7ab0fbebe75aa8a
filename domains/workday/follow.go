package workday

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// FollowQuery are the parameters of follow_request.
type FollowQuery struct {
	Someone
	About     string `json:"about,omitempty" max:"100" description:"Only a process whose name has this text"`
	RequestID string `json:"request_id,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the request, where it is known"`
}

// following serves the capability that waits for the outcome of a request.
type following struct{ d *domain }

// usualFollow is the default poll interval.
const usualFollow = 15 * time.Minute

// followRequest returns the outcome of a request once it has ended. Until then it returns
// domainkit.Waitf, so that the core parks the run and calls again.
func (f following) followRequest(ctx context.Context, _ domainkit.Call, in FollowQuery) (RequestState, error) {
	d := f.d
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return RequestState{}, err
	}
	events, err := requestsOf(ctx, d.client, in.Worker, in.About)
	if err != nil {
		return RequestState{}, err
	}
	event, err := followed(events, in.RequestID, w.Descriptor)
	if err != nil {
		return RequestState{}, err
	}
	state, err := stateOf(ctx, d.client, w, event)
	if err != nil {
		return RequestState{}, err
	}
	if state.State == stateSubmitted {
		return RequestState{}, domainkit.Waitf(d.follow, "%s of %s, effective %s, waits for %s in Workday",
			state.Process, state.Name, state.Effective, cmp.Or(state.WaitsFor, "somebody"))
	}
	return state, nil
}

// followed returns the event with an id. Without an id it returns the newest open one, else the
// newest.
func followed(events []rest.Event, id, name string) (rest.Event, error) {
	at := slices.IndexFunc(events, func(e rest.Event) bool {
		return e.ID == id || id == "" && eventState(e.Status.Descriptor) == stateSubmitted
	})
	switch {
	case at >= 0:
		return events[at], nil
	case id == "" && len(events) > 0:
		return events[0], nil
	}
	return rest.Event{}, domainkit.Refusef(contracts.ErrNotFound, "Workday has no such request of %s", name)
}

// requestsOf returns the events of a worker whose process name contains a text, newest first.
func requestsOf(ctx context.Context, client *rest.Client, worker, about string) ([]rest.Event, error) {
	events, err := client.Events(ctx, worker)
	if err != nil {
		return nil, failure(err)
	}
	events = slices.DeleteFunc(events, func(e rest.Event) bool { return !strings.Contains(fold(processName(e)), fold(about)) })
	slices.SortStableFunc(events, func(a, b rest.Event) int { return strings.Compare(b.Created, a.Created) })
	return events, nil
}

// Summary reports the state of the request.
func (r RequestState) Summary() string {
	text := r.Process + " of " + r.Name
	if r.Effective != "" {
		text += ", effective " + r.Effective
	}
	text += ": " + r.State
	if r.WaitsFor != "" {
		text += ", waits for " + r.WaitsFor
	}
	if r.Comment != "" {
		text += " (" + r.Comment + ")"
	}
	return text
}
