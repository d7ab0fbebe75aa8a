package workday

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// CancelOrder are the parameters of cancel_time_off.
type CancelOrder struct {
	Someone
	From      string `json:"from" format:"date" description:"A day of the time off to cancel"`
	To        string `json:"to,omitempty" format:"date" description:"Last day to cancel; without it the whole request that the first day belongs to"`
	RequestID string `json:"request_id,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the request, where it is known"`
	Comment   string `json:"comment,omitempty" max:"500" description:"Remark"`
}

// Cancellation is the result of cancelling time off.
type Cancellation struct {
	Worker      string  `json:"worker"`
	Name        string  `json:"worker_name"`
	AbsenceType string  `json:"absence_type"`
	AbsenceName string  `json:"absence_name"`
	Days        float64 `json:"days"`
	FirstDay    string  `json:"first_day"`
	LastDay     string  `json:"last_day"`
	Status      string  `json:"status"`
	// RemainingDays counts the days that stay until Workday has approved the cancellation; 0 if it
	// took effect at once.
	RemainingDays float64 `json:"remaining_days"`
	// Dates are the cancelled days.
	Dates []string `json:"dates"`
}

// Summary reports the cancellation and its status.
func (c Cancellation) Summary() string {
	text := fmt.Sprintf("%s of %s of %s %s: ", amount(c.Days, "days"), c.AbsenceName, c.Name, period(c.FirstDay, c.LastDay))
	switch c.Status {
	case stateSubmitted:
		return text + "cancellation submitted, waiting for the approval in Workday"
	case stateDenied:
		return text + "cancellation denied in Workday"
	}
	return text + "cancelled"
}

// cancelTimeOff cancels a request that awaits approval, or deletes approved days.
func (d *domain) cancelTimeOff(ctx context.Context, call domainkit.Call, in CancelOrder) (Cancellation, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Cancellation{}, err
	}
	around, err := d.entries(ctx, w.ID, shift(in.From, -100), shift(cmp.Or(in.To, in.From), 100))
	if err != nil {
		return Cancellation{}, err
	}
	held := slices.DeleteFunc(around, func(e rest.Entry) bool { return !holds(e) })
	target, err := pick(held, in, w.Descriptor)
	if err != nil {
		return Cancellation{}, err
	}
	about, err := d.describe(ctx, w, target)
	if err != nil {
		return Cancellation{}, err
	}
	out := Cancellation{
		Worker: w.ID, Name: w.Descriptor, AbsenceType: about.AbsenceType, AbsenceName: about.AbsenceName,
		Days: about.Days, FirstDay: about.FirstDay, LastDay: about.LastDay, Status: stateCancelled, Dates: datesOf(target),
	}
	comment := mark(in.Comment, call.IdempotencyKey, out.notes()...)
	if about.Status == stateSubmitted {
		err := d.cancelPending(ctx, in, comment, target, held)
		if rest.IsKind(err, rest.KindNotFound) { // the tenant has no such operation, or the request was just approved
			return d.deleteInstead(ctx, out, comment, target)
		}
		return out, callFailure(err)
	}
	return d.deleteApproved(ctx, out, comment, target)
}

// pick selects the days to cancel: those of a period, of a request, or those of a request within a
// period.
func pick(held []rest.Entry, in CancelOrder, name string) ([]rest.Entry, error) {
	target := held
	if in.To == "" || in.RequestID != "" {
		target = groups(held, in.From)
	}
	if in.To != "" {
		target = slices.DeleteFunc(slices.Clone(target), func(e rest.Entry) bool { return e.Date < in.From || e.Date > in.To })
	}
	if len(target) == 0 {
		return nil, domainkit.Refusef(contracts.ErrNotFound, "%s has no time off %s", name, period(in.From, cmp.Or(in.To, in.From)))
	}
	for _, e := range target {
		if e.Type.ID != target[0].Type.ID || entryState(e) != entryState(target[0]) {
			return nil, domainkit.Refusef(contracts.ErrPrecondition,
				"%s has several kinds of time off in that period, or days in different states; cancel them one by one", name)
		}
	}
	return target, nil
}

// groups returns the requests that include a day. There are several if parts of the day were
// requested as different kinds.
func groups(held []rest.Entry, day string) []rest.Entry {
	var found []rest.Entry
	for _, e := range held {
		if e.Date == day && !slices.ContainsFunc(found, func(f rest.Entry) bool { return f.ID == e.ID }) {
			found = append(found, group(held, e)...)
		}
	}
	return found
}

// group returns the days of the request that an entry belongs to. Workday does not say which days
// were requested together. Days of one kind, state and comment belong together if the comment has a
// marker, else if only weekends lie between them.
func group(held []rest.Entry, of rest.Entry) []rest.Entry {
	alike := slices.DeleteFunc(slices.Clone(held), func(e rest.Entry) bool {
		return e.Type.ID != of.Type.ID || e.Status.ID != of.Status.ID || e.Comment != of.Comment
	})
	if hasMark(of.Comment) {
		return alike
	}
	first := slices.IndexFunc(alike, func(e rest.Entry) bool { return e.ID == of.ID })
	last := first
	for first > 0 && adjacent(alike[first-1].Date, alike[first].Date) {
		first--
	}
	for last < len(alike)-1 && adjacent(alike[last].Date, alike[last+1].Date) {
		last++
	}
	return alike[first : last+1]
}

// cancelPending cancels the event of a request. That cancels all of its days, so it is refused if
// only some of them were selected.
func (d *domain) cancelPending(ctx context.Context, in CancelOrder, comment string, target, held []rest.Entry) error {
	whole := group(held, target[0])
	if len(whole) != len(target) {
		return domainkit.Refusef(contracts.ErrPrecondition,
			"the request is not approved yet and can only be cancelled as a whole, %s", period(whole[0].Date, whole[len(whole)-1].Date))
	}
	id, err := d.pendingEvent(ctx, in, whole[0].Date)
	if err != nil {
		return err
	}
	return d.client.CancelEvent(ctx, id, comment)
}

// deleteInstead deletes days if the tenant cannot cancel events. A tenant that only allows approved
// days to be corrected refuses that.
func (d *domain) deleteInstead(ctx context.Context, out Cancellation, comment string, target []rest.Entry) (Cancellation, error) {
	done, err := d.deleteApproved(ctx, out, comment, target)
	if refused, is := errors.AsType[*contracts.ToolError](err); is && refused.Type == contracts.ErrPrecondition {
		return done, domainkit.Refusef(contracts.ErrPrecondition,
			"the API of this tenant cancels no request that waits for an approval; %s can cancel it in Workday, or whoever approves it can deny it", out.Name)
	}
	return done, err
}

// callFailure converts the error of a call to the tenant; other errors are returned unchanged.
func callFailure(err error) error {
	if _, isCall := rest.AsError(err); isCall {
		return failure(err)
	}
	return err
}

// pendingEvent finds the worker's event that awaits approval and starts on a day. If a request id
// is given, the event must have it.
func (d *domain) pendingEvent(ctx context.Context, in CancelOrder, first string) (string, error) {
	events, err := d.client.Events(ctx, in.Worker)
	if err != nil {
		return "", failure(err)
	}
	events = slices.DeleteFunc(events, func(e rest.Event) bool {
		return e.Effective != first || eventState(e.Status.Descriptor) != stateSubmitted ||
			(in.RequestID != "" && e.ID != in.RequestID)
	})
	if len(events) != 1 {
		return "", domainkit.Refusef(contracts.ErrPrecondition,
			"%d of the worker's requests wait for an approval and begin on %s, and one is needed", len(events), first)
	}
	return events[0].ID, nil
}

func (d *domain) deleteApproved(ctx context.Context, out Cancellation, comment string, target []rest.Entry) (Cancellation, error) {
	ids := make([]string, 0, len(target))
	for _, e := range target {
		ids = append(ids, e.ID)
	}
	started, err := d.client.DeleteEntries(ctx, out.Worker, ids, comment)
	if err != nil {
		return Cancellation{}, failure(err)
	}
	if eventState(started.Status) == stateSubmitted {
		out.Status, out.RemainingDays = stateSubmitted, out.Days
	}
	return out, nil
}

// notes are stored after the marker, because cancelled days can no longer be read. Each day is
// stored as its distance from the first.
func (c Cancellation) notes() []string {
	var after []string
	for _, date := range c.Dates {
		after = append(after, strconv.Itoa(daysBetween(c.FirstDay, date)))
	}
	return []string{c.FirstDay, strings.Join(after, ","), strconv.FormatFloat(c.Days, 'f', -1, 64), cmp.Or(c.AbsenceType, "-")}
}

// readNotes parses the result of notes.
func readNotes(said []string) (c Cancellation, err error) {
	if len(said) != 4 {
		return c, errors.New("the notes of the cancellation are damaged")
	}
	c = Cancellation{FirstDay: said[0], AbsenceName: "time off", AbsenceType: said[3], Status: stateCancelled}
	if c.Days, err = strconv.ParseFloat(said[2], 64); err != nil {
		return c, err
	}
	for after := range strings.SplitSeq(said[1], ",") {
		by, err := strconv.Atoi(after)
		if err != nil {
			return c, err
		}
		c.LastDay = shift(c.FirstDay, by)
		c.Dates = append(c.Dates, c.LastDay)
	}
	return c, nil
}

func datesOf(entries []rest.Entry) []string {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Date)
	}
	return out
}

// RestoreOrder are the parameters of the compensation of cancel_time_off.
type RestoreOrder struct {
	Someone
	Days        float64  `json:"days" above:"0" max:"999" description:"Number of working days, in quarters"`
	Dates       []string `json:"dates" min:"1" max:"60" description:"The days"`
	AbsenceType string   `json:"absence_type" enum:"vacation,sick,family_care,unpaid" default:"vacation" description:"Kind of time off"`
}

// order returns the request for the days. If it is for less than one day per date, it uses the
// first dates.
func (r RestoreOrder) order() RequestOrder {
	dates := slices.Sorted(slices.Values(r.Dates))
	dates = dates[:min(len(dates), int(math.Ceil(r.Days)))]
	return RequestOrder{Wish: Wish{Someone: r.Someone, Days: r.Days, Start: dates[0], Dates: dates, AbsenceType: r.AbsenceType}}
}

func (d *domain) restoreTimeOff(ctx context.Context, call domainkit.Call, in RestoreOrder) (Request, error) {
	return d.requestTimeOff(ctx, call, in.order())
}

func (d *domain) findRestored(ctx context.Context, call domainkit.Call, in RestoreOrder) (*Request, error) {
	return d.findRequest(ctx, call, in.order())
}

// findCancellation finds the cancellation of a call, with the days that still exist. Cancelling
// twice has no further effect, so a cancellation that was not found may be sent again.
func (d *domain) findCancellation(ctx context.Context, call domainkit.Call, in CancelOrder) (*Cancellation, error) {
	found, err := d.markedCancellation(ctx, call.IdempotencyKey, in.Worker)
	if err != nil || found == nil {
		return nil, err
	}
	now, err := d.listTimeOff(ctx, call, PeriodQuery{Someone: in.Someone, From: found.FirstDay, To: found.LastDay, AbsenceType: found.AbsenceType})
	if err != nil {
		return nil, err
	}
	found.RemainingDays = now.Days
	return found, nil
}

// markedCancellation reads a cancellation from the comment that it left.
func (d *domain) markedCancellation(ctx context.Context, key, worker string) (*Cancellation, error) {
	event, err := d.markedEvent(ctx, key, worker, func(rest.Event) bool { return true })
	if err != nil || event == nil {
		return nil, err
	}
	comment, err := d.markedComment(ctx, key, event.ID)
	if err != nil {
		return nil, err
	}
	out, err := readNotes(notes(comment, key))
	if err != nil {
		return nil, fmt.Errorf("comment of event %s: %w", event.ID, err)
	}
	w, err := d.worker(ctx, worker)
	if err != nil {
		return nil, err
	}
	out.Worker, out.Name = w.ID, w.Descriptor
	if name, known := d.kinds[out.AbsenceType]; known {
		out.AbsenceName = name
	} else {
		out.AbsenceType = ""
	}
	switch state := eventState(event.Status.Descriptor); state {
	case stateSubmitted: // a correction that awaits approval
		out.Status, out.RemainingDays = stateSubmitted, out.Days
	case stateDenied:
		out.Status = stateDenied
	}
	return &out, nil
}
