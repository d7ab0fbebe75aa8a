package workday

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// RequestOrder are the parameters of request_time_off.
type RequestOrder struct {
	Wish
	Comment string `json:"comment,omitempty" max:"500" description:"Remark for the approver"`
	Plan    string `json:"plan,omitempty" max:"2000" pattern:"^days:.+$" description:"The days that it comes to, as plan_time_off gives them; other days are not submitted"`
}

// Request is a request for time off as stored in Workday.
type Request struct {
	RequestID   string   `json:"request_id"`
	Worker      string   `json:"worker"`
	Name        string   `json:"worker_name"`
	AbsenceType string   `json:"absence_type"`
	AbsenceName string   `json:"absence_name"`
	Days        float64  `json:"days"`
	FirstDay    string   `json:"first_day"`
	LastDay     string   `json:"last_day"`
	Quantity    float64  `json:"quantity"`
	Unit        string   `json:"unit"`
	Status      string   `json:"status"`
	Warnings    []string `json:"warnings,omitempty"`
}

// Summary reports the request and its status.
func (r Request) Summary() string {
	text := fmt.Sprintf("%s of %s for %s %s", amount(r.Days, "days"), r.AbsenceName, r.Name, period(r.FirstDay, r.LastDay))
	switch r.Status {
	case stateSubmitted:
		text += ": submitted, waiting for the approval in Workday"
	default:
		text += ": " + r.Status
	}
	if len(r.Warnings) > 0 {
		text += "; Workday warns: " + strings.Join(r.Warnings, " ")
	}
	return text
}

// requestTimeOff submits a request. If Workday already has a request with the marker of the key, it
// returns that, even if the key was lost from the store.
func (d *domain) requestTimeOff(ctx context.Context, call domainkit.Call, in RequestOrder) (Request, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Request{}, err
	}
	thought, earlier, err := d.planAbsence(ctx, call.IdempotencyKey, w, in.Wish)
	if err != nil {
		return Request{}, err
	}
	if earlier != nil {
		return *earlier, nil
	}
	shown, accepted := readPlan(in.Plan)
	if in.Plan != "" && shown != thought.days() {
		return Request{}, domainkit.Refusef(errPlanChanged, "%s would get other days by now than those that were shown: %s", w.Descriptor, thought.label())
	}
	plan := thought.plan
	for i := range plan {
		plan[i].Reason, plan[i].Comment = thought.reason, mark(in.Comment, call.IdempotencyKey)
	}
	started, err := d.client.RequestTimeOff(ctx, w.ID, plan, mark("", call.IdempotencyKey), len(accepted) > 0)
	if e, is := rest.AsError(err); is && e.Has(codeOverlap, codeOverlapBlock) {
		// An interrupted request may have arrived since the first look.
		found, lookErr := d.marked(ctx, call.IdempotencyKey, w, in.Start)
		if lookErr == nil && found != nil {
			return *found, nil
		}
	}
	if e, is := rest.AsError(err); is && e.OnlyWarns() {
		d.warned.keep(thought.key(), e.Details, d.now())
		return Request{}, domainkit.Refusef(errWarned, "Workday warns: %s", e.Reason())
	}
	if err != nil {
		return Request{}, failure(err)
	}
	return d.submitted(w, thought.kind, plan, started), nil
}

func (d *domain) submitted(w rest.Worker, kind rest.AbsenceType, plan []rest.Day, started rest.Started) Request {
	out := Request{
		RequestID: started.Event.ID, Worker: w.ID, Name: w.Descriptor, AbsenceName: kind.Descriptor,
		AbsenceType: d.kinds.kindOf(rest.Ref{ID: kind.ID, Descriptor: kind.Descriptor}),
		FirstDay:    plan[0].Date, LastDay: plan[len(plan)-1].Date, Unit: units(kind.Unit),
		Status: eventState(started.Status),
	}
	for _, day := range plan {
		out.Quantity = round(out.Quantity + day.Quantity)
	}
	out.Days = round(out.Quantity / kind.Daily)
	for _, warning := range started.Warnings {
		out.Warnings = append(out.Warnings, warning.Message)
	}
	return out
}

// reasonOf returns the reason that a kind of time off may require.
func reasonOf(kind rest.AbsenceType, text string) (*rest.Ref, error) {
	var names []string
	for _, r := range kind.Reasons {
		if text != "" && fold(r.Descriptor) == fold(strings.TrimSpace(text)) {
			return &rest.Ref{ID: r.ID}, nil
		}
		names = append(names, r.Descriptor)
	}
	switch {
	case text != "" && len(names) == 0:
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "%s takes no reason; put it into the comment", kind.Descriptor)
	case text != "" || kind.ReasonRequired:
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "%s needs a reason: %s", kind.Descriptor, strings.Join(names, ", "))
	}
	return nil, nil //nolint:nilnil // no reason was given and none is needed
}

// findRequest finds the request of a call. A request that has not arrived may still do so, but not
// twice: the tenant refuses days that are taken.
func (d *domain) findRequest(ctx context.Context, call domainkit.Call, in RequestOrder) (*Request, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return nil, err
	}
	return d.marked(ctx, call.IdempotencyKey, w, in.Start)
}

// marked finds the request with the marker of a key: by its days or, if a denial or cancellation
// removed them, by its event.
func (d *domain) marked(ctx context.Context, key string, w rest.Worker, start string) (*Request, error) {
	event, err := d.markedEvent(ctx, key, w.ID, func(e rest.Event) bool { return e.Effective == start })
	if err != nil {
		return nil, err
	}
	list, err := d.entries(ctx, w.ID, start, shift(start, 150))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e rest.Entry) bool { return !marked(e.Comment, key) })
	switch {
	case len(list) > 0:
		out, err := d.describe(ctx, w, list)
		if event != nil && err == nil {
			out.RequestID = event.ID
		}
		return out, err
	case event != nil:
		return &Request{
			RequestID: event.ID, Worker: w.ID, Name: w.Descriptor, AbsenceName: "time off",
			FirstDay: start, LastDay: start, Unit: "days", Status: eventState(event.Status.Descriptor),
		}, nil
	}
	return nil, nil //nolint:nilnil // nobody made such a request
}

const mostEventsSearched = 20

// markedEvent finds the event whose comments have the marker of a key, among the newest events that
// match wanted.
func (d *domain) markedEvent(ctx context.Context, key, worker string, wanted func(rest.Event) bool) (*rest.Event, error) {
	events, err := d.client.Events(ctx, worker)
	if err != nil {
		return nil, failure(err)
	}
	events = slices.DeleteFunc(events, func(e rest.Event) bool { return !wanted(e) })
	slices.SortStableFunc(events, func(a, b rest.Event) int { return strings.Compare(b.Created, a.Created) })
	for _, e := range events[:min(len(events), mostEventsSearched)] {
		comment, err := d.markedComment(ctx, key, e.ID)
		if err != nil {
			return nil, err
		}
		if comment != "" {
			return &e, nil
		}
	}
	return nil, nil //nolint:nilnil // no event carries the mark
}

func (d *domain) markedComment(ctx context.Context, key, event string) (string, error) {
	comments, err := d.client.EventComments(ctx, event)
	if err != nil {
		return "", failure(err)
	}
	for _, c := range comments {
		if marked(c.Comment, key) {
			return c.Comment, nil
		}
	}
	return "", nil
}

// describe builds a request from its days, which must not be empty.
func (d *domain) describe(ctx context.Context, w rest.Worker, list []rest.Entry) (*Request, error) {
	types, err := d.client.AbsenceTypes(ctx, w.ID)
	if err != nil {
		return nil, failure(err)
	}
	out := &Request{
		Worker: w.ID, Name: w.Descriptor, AbsenceType: d.kinds.kindOf(list[0].Type), AbsenceName: list[0].Type.Descriptor,
		Days: days(list, types), FirstDay: list[0].Date, LastDay: list[len(list)-1].Date,
		Unit: units(list[0].Unit), Status: entryState(list[0]),
	}
	for _, e := range list {
		out.Quantity = round(out.Quantity + e.Quantity)
	}
	return out, nil
}
