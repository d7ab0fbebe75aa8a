package workday

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// RequestOrder is a wish for time off.
type RequestOrder struct {
	Someone
	Days        float64 `json:"days" above:"0" max:"60" description:"Number of working days, in quarters"`
	Start       string  `json:"start" format:"date" description:"First day"`
	AbsenceType string  `json:"absence_type" enum:"vacation,sick,family_care,unpaid" default:"vacation" description:"Kind of time off"`
	Reason      string  `json:"reason,omitempty" max:"100" description:"Reason, for kinds that need one"`
	Comment     string  `json:"comment,omitempty" max:"500" description:"Remark for the approver"`
}

// Request is a request for time off as it stands in Workday.
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

// Summary says what was asked for and how far it is.
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

// requestTimeOff submits a request. A request that carries the mark of the key
// already is given back as it is, whatever the store of keys has forgotten.
func (d *domain) requestTimeOff(ctx context.Context, call domainkit.Call, in RequestOrder) (Request, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Request{}, err
	}
	kind, err := d.absenceType(ctx, w, in.AbsenceType)
	if err != nil {
		return Request{}, err
	}
	reason, err := reasonOf(kind, in.Reason)
	if err != nil {
		return Request{}, err
	}
	plan, earlier, err := d.plan(ctx, call.IdempotencyKey, w, kind, in)
	if err != nil {
		return Request{}, err
	}
	if earlier != nil {
		return *earlier, nil
	}
	for i := range plan {
		plan[i].Reason, plan[i].Comment = reason, mark(in.Comment, call.IdempotencyKey)
	}
	started, err := d.client.RequestTimeOff(ctx, w.ID, plan, mark("", call.IdempotencyKey))
	if e, is := rest.AsError(err); is && e.Has(codeOverlap, codeOverlapBlock) {
		// A request that was cut off may have arrived between our look and now.
		found, lookErr := d.marked(ctx, call.IdempotencyKey, w, in.Start)
		if lookErr == nil && found != nil {
			return *found, nil
		}
	}
	if err != nil {
		return Request{}, failure(err)
	}
	return d.submitted(w, kind, plan, started), nil
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

// reasonOf finds the reason that a kind of time off may need.
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

// plan chooses the days: from the first day on, those on which the tenant
// allows time off. The first day itself must be one; holidays and weekends
// behind it are passed over, a day that is taken is not. It gives instead the
// request that an earlier execution made.
func (d *domain) plan(ctx context.Context, key string, w rest.Worker, kind rest.AbsenceType, in RequestOrder) ([]rest.Day, *Request, error) {
	horizon := shift(in.Start, int(math.Ceil(in.Days))*2+14)
	taken, err := d.entries(ctx, w.ID, in.Start, horizon)
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(taken, func(e rest.Entry) bool { return marked(e.Comment, key) }) {
		found, err := d.marked(ctx, key, w, in.Start)
		return nil, found, err
	}
	var candidates []string
	for day := in.Start; day <= horizon; day = shift(day, 1) {
		candidates = append(candidates, day)
	}
	valid, err := d.client.ValidDates(ctx, w.ID, kind.ID, candidates)
	if err != nil {
		return nil, nil, failure(err)
	}
	days, err := choose(candidates, valid, taken, kind, in, w.Descriptor)
	return days, nil, err
}

func choose(candidates []string, valid []rest.ValidDate, taken []rest.Entry, kind rest.AbsenceType, in RequestOrder, name string) ([]rest.Day, error) {
	left := in.Days
	var out []rest.Day
	for _, day := range candidates {
		if left <= 0 {
			break
		}
		free := slices.ContainsFunc(valid, func(v rest.ValidDate) bool { return v.Date == day })
		if i := slices.IndexFunc(taken, func(e rest.Entry) bool { return e.Date == day && holds(e) }); i >= 0 {
			return nil, domainkit.Refusef(contracts.ErrConflict, "%s already has %s on %s (%s)", name, taken[i].Type.Descriptor, day, entryState(taken[i]))
		}
		if !free && day == in.Start {
			return nil, domainkit.Refusef(contracts.ErrPrecondition, "%s is not a working day of %s", day, name)
		}
		if free {
			part := min(left, 1)
			out = append(out, rest.Day{Date: day, Quantity: round(part * kind.Daily), Type: rest.Ref{ID: kind.ID}})
			left -= part
		}
	}
	if left > 0 {
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "there are not %s free from %s on", amount(in.Days, "working days"), in.Start)
	}
	return out, nil
}

// RequestKey names a request by what asked for it.
type RequestKey struct {
	Someone
	Start string `json:"start" format:"date" description:"First day of the request"`
	Key   string `json:"key" min:"1" max:"255" description:"Idempotency key of the request"`
}

// Found is a request that was looked for. The fields of the request are absent
// when there is none.
type Found struct {
	Found   bool  `json:"found"`
	Applied *bool `json:"applied"`
	*Request
}

// Summary says whether there is one.
func (f Found) Summary() string {
	if f.Request == nil {
		return "there is no such request"
	}
	return f.Request.Summary()
}

// findRequest tells whether a request with the mark of a key was made.
func (d *domain) findRequest(ctx context.Context, _ domainkit.Call, in RequestKey) (Found, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Found{}, err
	}
	found, err := d.marked(ctx, in.Key, w, in.Start)
	if err != nil {
		return Found{}, err
	}
	applied := found != nil
	return Found{Found: applied, Applied: &applied, Request: found}, nil
}

// resolveRequest is findRequest for an execution that was cut off. A request
// that has not arrived may still arrive, but cannot do so twice: the tenant
// refuses days that are taken.
func (d *domain) resolveRequest(ctx context.Context, call domainkit.Call, in RequestOrder) (applied *bool, facts any, err error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.marked(ctx, call.IdempotencyKey, w, in.Start)
	return new(found != nil), found, err
}

// marked finds the request that carries the mark of a key, by its days or,
// when these are gone because it was denied or cancelled, by its event.
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

// markedEvent finds the event whose comments carry the mark of a key among the
// newest that are wanted.
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

// describe makes a request of its days, which are not empty.
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

// RequestRef names a request by its id and its days.
type RequestRef struct {
	Someone
	RequestID   string `json:"request_id" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the request"`
	AbsenceType string `json:"absence_type,omitempty" description:"Kind of time off"`
	FirstDay    string `json:"first_day" format:"date"`
	LastDay     string `json:"last_day" format:"date"`
}

// getRequest reads a request back: its event, and the days that it holds.
func (d *domain) getRequest(ctx context.Context, _ domainkit.Call, in RequestRef) (Found, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Found{}, err
	}
	event, err := d.client.Event(ctx, in.RequestID)
	if rest.IsKind(err, rest.KindNotFound) || (err == nil && event.For.ID != "" && event.For.ID != in.Worker) {
		return Found{}, nil
	}
	if err != nil {
		return Found{}, failure(err)
	}
	list, err := d.entries(ctx, in.Worker, in.FirstDay, in.LastDay)
	if err != nil {
		return Found{}, err
	}
	list = slices.DeleteFunc(list, func(e rest.Entry) bool {
		return !holds(e) || (in.AbsenceType != "" && d.kinds.kindOf(e.Type) != in.AbsenceType)
	})
	if len(list) == 0 {
		return Found{Found: true, Request: &Request{
			RequestID: event.ID, Worker: w.ID, Name: w.Descriptor, AbsenceType: in.AbsenceType, AbsenceName: "time off",
			FirstDay: in.FirstDay, LastDay: in.LastDay, Unit: "days", Status: eventState(event.Status.Descriptor),
		}}, nil
	}
	out, err := d.describe(ctx, w, list)
	if err != nil {
		return Found{}, err
	}
	out.RequestID, out.Status = event.ID, eventState(event.Status.Descriptor)
	return Found{Found: true, Request: out}, nil
}
