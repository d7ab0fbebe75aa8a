package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// absences is the absence-management service.
type absences struct {
	*books

	people *people
	// forms means that writes are sent as a form, as since v5.
	forms bool
}

// decode decodes a write in the format of this version of the service.
func (a *absences) decode(c *call, into any) error {
	if a.forms {
		return c.decodePart(into)
	}
	return c.decode(into)
}

func (a *absences) absenceRoutes(on func(pattern string, h handler)) {
	on("GET /workers", a.people.listStaff)
	on("GET /workers/{id}", a.onWorker(func(_ *call, w *worker) (reply, error) { return ok(a.people.renderStaff(w)) }))
	on("GET /workers/{id}/eligibleAbsenceTypes", a.onWorker(a.listEligible))
	on("GET /workers/{id}/validTimeOffDates", a.onWorker(a.listValidDates))
	on("GET /workers/{id}/timeOffDetails", a.onWorker(a.listDetails))
	on("POST /workers/{id}/requestTimeOff", a.onWorker(a.requestTimeOff))
	on("POST /workers/{id}/correctTimeOffEntry", a.onWorker(a.correctTimeOff))
	on("GET /balances", a.listBalances)
	on("GET /values/timeOff/status/", a.listStatuses)
}

// eligible returns the types that a worker may request: employees all, others none.
func (a *absences) eligible(w *worker) []*absenceType {
	if w.contingent || w.terminated {
		return nil
	}
	return a.absence.kinds
}

func (a *absences) listEligible(c *call, w *worker) (reply, error) {
	list := a.eligible(w)
	if wanted := c.query.Get("category"); wanted != "" && wanted != categoryTimeOff {
		list = nil
	}
	return paged(c, list, func(k *absenceType) any {
		return map[string]any{
			"id": k.id, "descriptor": k.name, "unitOfTime": k.unitRef(), "dailyDefaultQuantity": k.daily,
			"category":       ref{ID: categoryTimeOff, Descriptor: "Time Off"},
			"reasonRequired": len(k.reasons) > 0, "absenceReasons": append([]ref{}, k.reasons...),
			"positionBased": false, "position": []ref{}, "displayStartAndEndTime": false, "startAndEndTimeRequired": false,
			"entryOption": ref{ID: digest("entryOption"), Descriptor: "Enter Time Off Quantity"},
		}
	})
}

func (a *absences) listValidDates(c *call, w *worker) (reply, error) {
	kind := a.absence.kind(c.query.Get("timeOff"))
	if kind == nil || !slices.Contains(a.eligible(w), kind) {
		return reply{}, invalid(critical("A1041", "timeOff", "The worker isn't eligible for this time off."))
	}
	var dates []string
	for _, date := range c.query["date"] {
		if workday(date) && a.absence.at(w.id, date) == nil {
			dates = append(dates, date)
		}
	}
	return paged(c, dates, func(date string) any {
		return map[string]any{"date": date, "dailyDefaultQuantity": kind.daily, "unit": kind.unitRef()}
	})
}

func (a *absences) listDetails(c *call, w *worker) (reply, error) {
	from := cmp.Or(c.query.Get("fromDate"), a.now().AddDate(0, -12, 0).Format(time.DateOnly))
	var list []*entry
	for _, e := range a.absence.between(w.id, from, c.query.Get("toDate")) {
		statuses, kinds := c.query["status"], c.query["timeOffType"]
		if (len(statuses) == 0 || slices.Contains(statuses, e.status.ref().ID)) &&
			(len(kinds) == 0 || slices.Contains(kinds, e.kind.id)) {
			list = append(list, e)
		}
	}
	return paged(c, list, func(e *entry) any {
		out := map[string]any{
			"timeOffEntryId": e.id, "date": e.date, "quantity": e.quantity, "unit": e.kind.unitRef(),
			"status": e.status.ref(), "timeOffType": ref{ID: e.kind.id, Descriptor: e.kind.name},
			"worker": a.personRef(w.id), "position": ref{ID: digest("position", w.id), Descriptor: w.title},
		}
		if e.comment != "" {
			out["comment"] = e.comment
		}
		if e.reason != nil {
			out["reason"] = e.reason
		}
		return out
	})
}

func (a *absences) listBalances(c *call) (reply, error) {
	w, found := a.company.find(c.query.Get("worker"), c.subject)
	if !found {
		return reply{}, notFound()
	}
	var plans []*absenceType
	for _, k := range a.eligible(w) {
		if k.planID != "" {
			plans = append(plans, k)
		}
	}
	effective := cmp.Or(c.query.Get("effective"), a.now().Format(time.DateOnly))
	return paged(c, plans, func(k *absenceType) any {
		return map[string]any{
			"quantity": a.absence.balances[balanceKey{w.id, k.planID}], "unit": k.unitRef(),
			"category":      ref{ID: categoryTimeOff, Descriptor: "Time Off"},
			"absencePlan":   map[string]any{"id": k.planID, "descriptor": k.planName, "timeoffs": k.name, "absenceTable": []ref{}},
			"effectiveDate": effective, "worker": a.personRef(w.id),
			"position": ref{ID: digest("position", w.id), Descriptor: w.title},
		}
	})
}

func (a *absences) listStatuses(c *call) (reply, error) {
	all := []entryStatus{statusApproved, statusSubmitted, statusNotSubmitted, statusSentBack}
	return paged(c, all, func(s entryStatus) any { return s.ref() })
}

// parameters are the business process parameters of a request.
type parameters struct {
	Action  ref    `json:"action"`
	Comment string `json:"comment"`
}

func (p *parameters) validate() error {
	if p != nil && p.Action.ID != actionSubmit {
		return invalid(critical("A219", "action", "The business process action isn't valid."))
	}
	return nil
}

type requestBody struct {
	Days    []requestedDay `json:"days"`
	Process *parameters    `json:"businessProcessParameters"`
}

type requestedDay struct {
	Date     string   `json:"date"`
	Quantity *float64 `json:"dailyQuantity"`
	Type     ref      `json:"timeOffType"`
	Position ref      `json:"position"`
	Reason   ref      `json:"reason"`
	Comment  string   `json:"comment"`
}

func (a *absences) requestTimeOff(c *call, w *worker) (reply, error) {
	var body requestBody
	if err := a.decode(c, &body); err != nil {
		return reply{}, err
	}
	if err := body.Process.validate(); err != nil {
		return reply{}, err
	}
	found := a.validateDays(w, body.Days)
	if slices.ContainsFunc(found, func(d detail) bool { return d.Severity == "Critical" || !c.lenient }) {
		return reply{}, invalid(found...)
	}
	e := &event{process: RequestTimeOff, workerID: w.id, effective: firstDate(body.Days)}
	a.start(c, e)
	a.addEntries(e, body.Days)
	a.record(c, EffectTimeOffRequested, w.id, e.id)
	if body.Process == nil {
		e.status = eventSaved
	} else {
		e.addComment(c.subject, body.Process.Comment, a.now())
		a.submit(e)
	}
	return a.startedTimeOff(e, found)
}

func (e *event) addComment(person, text string, at time.Time) {
	if text != "" {
		e.comments = append(e.comments, comment{person: person, text: text, at: at})
	}
}

func firstDate(days []requestedDay) string {
	return slices.MinFunc(days, func(a, b requestedDay) int { return cmp.Compare(a.Date, b.Date) }).Date
}

func (a *absences) addEntries(e *event, days []requestedDay) {
	for _, d := range days {
		status := statusNotSubmitted
		added := &entry{
			id: wid("requested", len(a.absence.entries)), workerID: e.workerID, eventID: e.id,
			date: d.Date, kind: a.absence.kind(d.Type.ID), quantity: *d.Quantity, status: status, comment: d.Comment,
		}
		if d.Reason.ID != "" {
			i := slices.IndexFunc(added.kind.reasons, func(r ref) bool { return r.ID == d.Reason.ID })
			added.reason = &added.kind.reasons[i]
		}
		a.absence.entries = append(a.absence.entries, added)
	}
}

// startedTimeOff is the answer to a request or correction: the days, the state of the process and
// the accepted warnings.
func (a *absences) startedTimeOff(e *event, warnings []detail) (reply, error) {
	days := []any{}
	for _, d := range a.absence.ofEvent(e.id) {
		days = append(days, map[string]any{
			"id": d.id, "descriptor": d.date, "date": d.date, "dailyQuantity": d.quantity, "comment": d.comment,
			"timeOffType": ref{ID: d.kind.id, Descriptor: d.kind.name},
		})
	}
	for _, fix := range e.corrections {
		days = append(days, map[string]any{
			"correctedEntry": ref{ID: fix.entry.id, Descriptor: fix.entry.date}, "delete": fix.remove,
		})
	}
	out := map[string]any{
		"days": days,
		"businessProcessParameters": map[string]any{
			"action": ref{ID: actionSubmit, Descriptor: "Submit"}, "overallStatus": e.status,
			"overallBusinessProcess": a.eventRef(e), "transactionStatus": eventStatus(e),
			"for": a.personRef(e.workerID), "comments": []any{},
		},
	}
	if len(warnings) > 0 {
		out["errors"] = warnings
	}
	return created(out)
}

type correctBody struct {
	Days    []correctedDay `json:"days"`
	Process *parameters    `json:"businessProcessParameters"`
}

type correctedDay struct {
	Entry    ref      `json:"correctedEntry"`
	Delete   bool     `json:"delete"`
	Quantity *float64 `json:"dailyQuantity"`
	Comment  string   `json:"comment"`
}

// correctTimeOff changes or deletes approved entries.
func (a *absences) correctTimeOff(c *call, w *worker) (reply, error) {
	var body correctBody
	if err := a.decode(c, &body); err != nil {
		return reply{}, err
	}
	if err := body.Process.validate(); err != nil {
		return reply{}, err
	}
	e := &event{process: CorrectTimeOff, workerID: w.id}
	for i, d := range body.Days {
		fix, err := a.correctionOf(w, d, fmt.Sprintf("days[%d]", i))
		if err != nil {
			return reply{}, err
		}
		e.corrections = append(e.corrections, fix)
	}
	if len(e.corrections) == 0 {
		return reply{}, invalid(critical("A3287", "days", "No changes detected."))
	}
	e.effective = e.corrections[0].entry.date
	a.start(c, e)
	a.record(c, EffectTimeOffCorrected, w.id, e.id)
	if body.Process != nil {
		e.addComment(c.subject, body.Process.Comment, a.now())
	}
	a.submit(e)
	return a.startedTimeOff(e, nil)
}

func (a *absences) correctionOf(w *worker, d correctedDay, field string) (correction, error) {
	e := a.absence.entry(d.Entry.ID)
	switch {
	case e == nil || e.workerID != w.id:
		return correction{}, invalid(critical("A1051", field, "The time off request has already been canceled."))
	case e.status != statusApproved:
		return correction{}, invalid(critical("A1049", field, "Ensure that all time off entries that you correct are approved."))
	case d.Delete:
		return correction{entry: e, remove: true}, nil
	case d.Quantity == nil:
		return correction{}, invalid(critical("A1017", field, "Daily Quantity is required and must have a value."))
	case *d.Quantity <= 0:
		return correction{}, invalid(critical("A1020", field, "The correction can't have a quantity of zero."))
	}
	return correction{entry: e, quantity: *d.Quantity}, nil
}
