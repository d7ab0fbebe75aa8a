package workday

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// RequestsQuery asks for the outcome of the requests of a worker.
type RequestsQuery struct {
	Someone
	About string `json:"about,omitempty" max:"100" description:"Only processes whose name has this text"`
	State string `json:"state,omitempty" enum:"open,ended" description:"Only those that wait for somebody, or only those that do not any more"`
}

// RequestState is how far a request is in Workday.
type RequestState struct {
	RequestID string `json:"request_id"`
	Name      string `json:"worker_name"`
	Process   string `json:"process"`
	State     string `json:"state"`
	Effective string `json:"effective,omitempty"`
	Created   string `json:"created"`
	// WaitsFor are those whose turn it is.
	WaitsFor string `json:"waits_for,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

// RequestStates are the requests of a worker, the newest first.
type RequestStates struct {
	Worker   string         `json:"worker"`
	Name     string         `json:"worker_name"`
	Total    int            `json:"total"`
	Requests []RequestState `json:"requests"`
}

const mostRequests = 10

// Summary reports how far the newest is.
func (r RequestStates) Summary() string {
	if r.Total == 0 {
		return "Workday has no such request of " + r.Name
	}
	text := r.Requests[0].Summary()
	if r.Total > 1 {
		text += fmt.Sprintf("; %d in all", r.Total)
	}
	return text
}

// listRequests tells the outcome of the requests of a worker, and whose turn it is.
func (d *domain) listRequests(ctx context.Context, _ domainkit.Call, in RequestsQuery) (RequestStates, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return RequestStates{}, err
	}
	events, err := requestsOf(ctx, d.client, in.Worker, in.About)
	if err != nil {
		return RequestStates{}, err
	}
	out := RequestStates{Worker: w.ID, Name: w.Descriptor}
	out.Total, out.Requests, err = listed(events, mostRequests, func(e rest.Event) bool {
		return in.State == "" || (in.State == "open") == (eventState(e.Status.Descriptor) == stateSubmitted)
	}, func(e rest.Event) (RequestState, error) { return stateOf(ctx, d.client, w, e) })
	return out, err
}

// stateOf reads of an open event whom it waits for, and of one that was denied or sent
// back what was said.
func stateOf(ctx context.Context, client *rest.Client, w rest.Worker, e rest.Event) (RequestState, error) {
	out := RequestState{RequestID: e.ID, Name: w.Descriptor, Process: processName(e), State: eventState(e.Status.Descriptor), Effective: e.Effective, Created: e.Created}
	if out.State == stateOther {
		out.State = cmp.Or(fold(e.Status.Descriptor), stateOther)
	}
	read := client.CompletedSteps
	if out.State == stateSubmitted {
		read = client.OpenSteps
	}
	if out.State == stateApproved || out.State == stateCancelled {
		return out, nil
	}
	steps, err := read(ctx, e.ID)
	if rest.IsKind(err, rest.KindNotFound) || rest.IsKind(err, rest.KindForbidden) {
		return out, nil // without the permission the rest is still worth telling
	}
	if err != nil {
		return out, failure(err)
	}
	var who []string
	for _, s := range steps {
		for _, p := range s.Awaiting {
			who = append(who, p.Descriptor)
		}
		for _, c := range s.Comments {
			out.Comment = c.Comment
		}
	}
	out.WaitsFor = strings.Join(who, ", ")
	return out, nil
}

// processName is the name of an event without the worker whom it is about.
func processName(e rest.Event) string {
	name, _, _ := strings.Cut(e.Descriptor, ":")
	return strings.TrimSpace(name)
}
