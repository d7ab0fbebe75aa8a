package sandbox

import (
	"fmt"
	"slices"
	"time"
)

// manyDays is the length from which a request gets a warning.
const manyDays = 15

// validateDays returns Workday's validations of a request, in the order of the days.
func (a *absences) validateDays(w *worker, days []requestedDay) []detail {
	if len(days) == 0 {
		return []detail{critical("A1038", "days", "Date is required and must have a value.")}
	}
	var found []detail
	wanted := map[*absenceType]float64{}
	seen := map[string]bool{}
	for i, d := range days {
		field := fmt.Sprintf("days[%d]", i)
		problem := a.validateDay(w, d, seen[d.Date])
		seen[d.Date] = true
		if problem != nil {
			problem.Field = field
			found = append(found, *problem)
			continue
		}
		wanted[a.absence.kind(d.Type.ID)] += *d.Quantity
	}
	found = append(found, a.validateBalance(w, wanted, days)...)
	if len(days) >= manyDays {
		found = append(found, warning("A1040", "days", "The request is longer than usual."))
	}
	return found
}

func (a *absences) validateDay(w *worker, d requestedDay, repeated bool) *detail {
	problem := func(code, text string) *detail { p := critical(code, "", text); return &p }
	kind := a.absence.kind(d.Type.ID)
	_, err := time.Parse(time.DateOnly, d.Date)
	switch {
	case d.Date == "" || err != nil:
		return problem("A1038", "Date is required and must have a value.")
	case d.Type.ID == "":
		return problem("A1009", "Time Off Type is required.")
	case kind == nil || !slices.Contains(a.eligible(w), kind):
		return problem("A1041", "The worker isn't eligible for this time off.")
	case d.Quantity == nil:
		return problem("A1017", "Daily Quantity is required and must have a value.")
	case *d.Quantity <= 0:
		return problem("A1016", "Enter an hourly or daily quantity that is greater than zero.")
	case *d.Quantity > kind.daily:
		return problem("A1022", fmt.Sprintf("At most %g a day can be requested.", kind.daily))
	case w.moreJobs && d.Position.ID == "":
		return problem("A1050", "Specify the position.")
	case len(kind.reasons) > 0 && d.Reason.ID == "":
		return problem("A1036", "A reason is required for this time off.")
	case d.Reason.ID != "" && !slices.ContainsFunc(kind.reasons, func(r ref) bool { return r.ID == d.Reason.ID }):
		return problem("A1021", "The reason isn't valid for this time off.")
	case !workday(d.Date):
		return problem("A1048", "Time off isn't allowed on "+d.Date+".")
	case repeated || a.absence.at(w.id, d.Date) != nil:
		return problem("A1028", "Time off on "+d.Date+" overlaps with an existing request.")
	}
	return nil
}

func (a *absences) validateBalance(w *worker, wanted map[*absenceType]float64, days []requestedDay) []detail {
	var found []detail
	for _, kind := range a.absence.kinds { // in a fixed order
		if kind.planID != "" && wanted[kind] > 0 && wanted[kind] > a.absence.available(w.id, kind.planID) {
			found = append(found, critical("A1011", "days", fmt.Sprintf(
				"You don't have a sufficient balance to satisfy the request for %s as of %s.", kind.name, firstDate(days))))
		}
	}
	return found
}
