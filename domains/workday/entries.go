package workday

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// States of time off, the same for every tenant.
const (
	stateSubmitted = "submitted" // awaits approval in Workday
	stateApproved  = "approved"
	stateDenied    = "denied"
	stateCancelled = "cancelled"
	stateOther     = "other"
)

// Ids of entry states that are the same in every tenant.
const (
	entryApproved  = "0391102bd1b542538d996936c8fa2fa7"
	entrySubmitted = "dd817fe688db4ac7bf84e3ef79f72948"
)

func entryState(e rest.Entry) string {
	switch e.Status.ID {
	case entryApproved:
		return stateApproved
	case entrySubmitted:
		return stateSubmitted
	}
	return strings.ReplaceAll(fold(e.Status.Descriptor), " ", "_")
}

// eventState converts the status of an event. It knows the default wording of Workday; any other
// status is "other".
func eventState(status string) string {
	switch fold(status) {
	case "in progress":
		return stateSubmitted
	case "successfully completed":
		return stateApproved
	case "denied":
		return stateDenied
	case "canceled", "rescinded":
		return stateCancelled
	}
	return stateOther
}

// holds reports whether the entry occupies its day, that is, is approved or submitted.
func holds(e rest.Entry) bool {
	state := entryState(e)
	return state == stateApproved || state == stateSubmitted
}

// entries reads the time off of a period, oldest first.
func (d *domain) entries(ctx context.Context, worker, from, to string) ([]rest.Entry, error) {
	list, err := d.client.Entries(ctx, worker, from, to)
	if err != nil {
		return nil, failure(err)
	}
	slices.SortFunc(list, func(a, b rest.Entry) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// days returns the sum of entries in days; the tenant defines how many hours a day has.
func days(list []rest.Entry, types []rest.AbsenceType) float64 {
	var sum float64
	for _, e := range list {
		sum += e.Quantity / daily(e, types)
	}
	return round(sum)
}

func daily(e rest.Entry, types []rest.AbsenceType) float64 {
	for _, t := range types {
		if t.ID == e.Type.ID && t.Daily > 0 {
			return t.Daily
		}
	}
	return usualDay(e.Unit)
}

// usualDay is the quantity of a day if the tenant does not define it.
func usualDay(unit rest.Ref) float64 {
	if units(unit) == "hours" {
		return 8
	}
	return 1
}

// shift moves a date by a number of days.
func shift(date string, by int) string {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date // the schema admits only dates
	}
	return d.AddDate(0, 0, by).Format(time.DateOnly)
}

// daysBetween returns the number of days from one date to a later one.
func daysBetween(from, to string) int {
	n := 0
	for date := from; date < to; date = shift(date, 1) {
		n++
	}
	return n
}

// adjacent reports whether at most a weekend lies between two days.
func adjacent(a, b string) bool {
	for next := shift(a, 1); next <= b; next = shift(next, 1) {
		if next == b {
			return true
		}
		if d, err := time.Parse(time.DateOnly, next); err != nil || (d.Weekday() != time.Saturday && d.Weekday() != time.Sunday) {
			return false
		}
	}
	return false
}

// period formats the first and last day.
func period(first, last string) string {
	if first == last {
		return "on " + first
	}
	return "from " + first + " to " + last
}

// PeriodQuery are the parameters of list_time_off.
type PeriodQuery struct {
	Someone
	From        string `json:"from,omitempty" format:"date" description:"First day; today unless given"`
	To          string `json:"to,omitempty" format:"date" description:"Last day; a year later unless given"`
	AbsenceType string `json:"absence_type,omitempty" description:"Only this kind"`
}

// Day is one entry of time off.
type Day struct {
	Name        string  `json:"worker_name"`
	Date        string  `json:"date"`
	AbsenceName string  `json:"absence_name"`
	AbsenceType string  `json:"absence_type,omitempty"`
	Quantity    float64 `json:"quantity"`
	Unit        string  `json:"unit"`
	Status      string  `json:"status"`
}

// TimeOff is the time off of a period.
type TimeOff struct {
	Worker string `json:"worker"`
	Name   string `json:"worker_name"`
	From   string `json:"from"`
	To     string `json:"to"`
	// Days is the sum of the approved and submitted entries.
	Days    float64 `json:"days"`
	Total   int     `json:"total"`
	Entries []Day   `json:"entries"`
}

const mostEntries = 60

// Summary reports the number of days.
func (t TimeOff) Summary() string {
	return fmt.Sprintf("%s has %s of time off between %s and %s", t.Name, amount(t.Days, "days"), t.From, t.To)
}

func (d *domain) listTimeOff(ctx context.Context, _ domainkit.Call, in PeriodQuery) (TimeOff, error) {
	from := cmp.Or(in.From, d.now().Format(time.DateOnly))
	to := cmp.Or(in.To, shift(from, 365))
	if to < from {
		return TimeOff{}, domainkit.Refusef(contracts.ErrInvalidParameters, "the last day is before the first")
	}
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return TimeOff{}, err
	}
	list, err := d.entries(ctx, in.Worker, from, to)
	if err != nil {
		return TimeOff{}, err
	}
	types, err := d.client.AbsenceTypes(ctx, in.Worker)
	if err != nil {
		return TimeOff{}, failure(err)
	}
	out := TimeOff{Worker: w.ID, Name: w.Descriptor, From: from, To: to}
	var held []rest.Entry
	for _, e := range list {
		kind := d.kinds.kindOf(e.Type)
		if in.AbsenceType != "" && in.AbsenceType != kind {
			continue
		}
		if holds(e) {
			held = append(held, e)
		}
		if out.Total++; out.Total <= mostEntries {
			out.Entries = append(out.Entries, Day{
				w.Descriptor, e.Date, e.Type.Descriptor, kind, e.Quantity, units(e.Unit), entryState(e),
			})
		}
	}
	out.Days = days(held, types)
	return out, nil
}
