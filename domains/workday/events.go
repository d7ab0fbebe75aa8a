package workday

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// RequestsQuery are the parameters of list_requests.
type RequestsQuery struct {
	Someone
	About string `json:"about,omitempty" max:"100" description:"Only processes whose name has this text"`
	State string `json:"state,omitempty" enum:"open,ended" description:"Only those that wait for somebody, or only those that do not any more"`
}

// RequestState is the state of a request in Workday.
type RequestState struct {
	RequestID string `json:"request_id"`
	Name      string `json:"worker_name"`
	Process   string `json:"process"`
	State     string `json:"state"`
	Effective string `json:"effective,omitempty"`
	Created   string `json:"created"`
	// WaitsFor names the people that the request awaits.
	WaitsFor string `json:"waits_for,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

// RequestStates are the requests of a worker, newest first.
type RequestStates struct {
	Worker   string         `json:"worker"`
	Name     string         `json:"worker_name"`
	Total    int            `json:"total"`
	Requests []RequestState `json:"requests"`
}

const mostRequests = 10

// Summary reports the state of the newest request.
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

// listRequests lists the requests of a worker with their state and the people they await.
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

// stateOf returns the state of an event: for an open one the people that it awaits, for a denied or
// sent-back one the comment.
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
		return out, nil // the rest is useful without this permission
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

// processName returns the name of an event without its worker.
func processName(e rest.Event) string {
	name, _, _ := strings.Cut(e.Descriptor, ":")
	return strings.TrimSpace(name)
}
