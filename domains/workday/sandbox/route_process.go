package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func (t *Tenant) processRoutes(on func(pattern string, h handler)) {
	on("GET /types", t.listTypes)
	on("GET /types/{id}", t.getType)
	on("GET /events", t.listEvents)
	on("GET /events/{id}", t.getEvent)
	on("GET /events/{id}/comments", t.listComments)
	on("GET /events/{id}/completedSteps", t.listSteps(func(s *step) bool { return s.status != stepAwaiting }))
	on("GET /events/{id}/inProgressSteps", t.listSteps(func(s *step) bool { return s.status == stepAwaiting }))
	on("GET /events/{id}/remainingSteps", t.listSteps(func(*step) bool { return false }))
	on("GET /eventSteps", t.listOpenSteps)
	on("GET /eventSteps/{id}", t.getStep)
	on("POST /eventSteps/{id}/approve", t.approve)
	on("POST /eventSteps/{id}/deny", t.deny)
	on("POST /eventSteps/{id}/sendBack", t.sendBack)
	on("POST /events/{id}/cancel", t.cancel)
	on("POST /events/{id}/rescind", t.rescind)
}

func (t *Tenant) listTypes(c *call) (reply, error) {
	return paged(c, t.process.types, func(r ref) any { return r })
}

func (t *Tenant) getType(c *call) (reply, error) {
	for _, r := range t.process.types {
		if r.ID == c.path("id") {
			return ok(r)
		}
	}
	return reply{}, notFound()
}

func (t *Tenant) listEvents(c *call) (reply, error) {
	if len(c.query["worker"]) != 1 {
		return reply{}, badRequest("exactly one worker is required")
	}
	w, found := t.company.find(c.query.Get("worker"), c.subject)
	if !found {
		return reply{}, notFound()
	}
	var list []*event
	for _, e := range slices.Backward(t.process.events) {
		if e.workerID == w.id && t.visible(e, c.subject) && hasStatus(c, e) {
			list = append(list, e)
		}
	}
	return paged(c, list, func(e *event) any { return t.renderEvent(e) })
}

func hasStatus(c *call, e *event) bool {
	wanted := c.query["status"]
	return len(wanted) == 0 || slices.Contains(wanted, eventStatus(e).ID) || slices.Contains(wanted, e.status)
}

func (t *Tenant) eventOf(c *call) (*event, error) {
	e := t.process.event(c.path("id"))
	if e == nil || !t.visible(e, c.subject) {
		return nil, notFound()
	}
	return e, nil
}

func (t *Tenant) getEvent(c *call) (reply, error) {
	e, err := t.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	return ok(t.renderEvent(e))
}

func (t *Tenant) listComments(c *call) (reply, error) {
	e, err := t.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	return paged(c, e.comments, func(m comment) any {
		return map[string]any{"person": t.personRef(m.person), "comment": m.text, "commentDate": stamp(m.at)}
	})
}

func (t *Tenant) listSteps(want func(*step) bool) handler {
	return func(c *call) (reply, error) {
		e, err := t.eventOf(c)
		if err != nil {
			return reply{}, err
		}
		var list []*step
		for _, s := range e.steps {
			if want(s) {
				list = append(list, s)
			}
		}
		return paged(c, list, func(s *step) any { return t.renderStep(e, s) })
	}
}

// listOpenSteps gives the steps that await whoever asks, or anyone when the
// system user does.
func (t *Tenant) listOpenSteps(c *call) (reply, error) {
	type item struct {
		e *event
		s *step
	}
	var list []item
	for _, e := range t.process.events {
		s := e.openStep()
		if s != nil && (c.subject == systemUser || s.assigneeID == c.subject) {
			list = append(list, item{e, s})
		}
	}
	return paged(c, list, func(i item) any { return t.renderStep(i.e, i.s) })
}

func (t *Tenant) stepOf(c *call) (*event, *step, error) {
	e, s := t.process.step(c.path("id"))
	if s == nil || !t.visible(e, c.subject) {
		return nil, nil, notFound()
	}
	return e, s, nil
}

func (t *Tenant) getStep(c *call) (reply, error) {
	e, s, err := t.stepOf(c)
	if err != nil {
		return reply{}, err
	}
	return ok(t.renderStep(e, s))
}

// openStepOf is the step of the path if the caller may act on it.
func (t *Tenant) openStepOf(c *call) (*event, *step, error) {
	e, s, err := t.stepOf(c)
	if err != nil {
		return nil, nil, err
	}
	if s.status != stepAwaiting || s.assigneeID != c.subject {
		return nil, nil, invalid(critical("A212", "id", "The step isn't awaiting your action."))
	}
	return e, s, nil
}

type stepBody struct {
	Comment string `json:"comment"`
	Reason  string `json:"reason"`
	To      ref    `json:"to"`
}

func (t *Tenant) approve(c *call) (reply, error) {
	e, s, err := t.openStepOf(c)
	if err != nil {
		return reply{}, err
	}
	var body stepBody
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	s.finish(stepCompleted, c.subject, body.Comment, t.now())
	t.complete(e)
	t.record(c, EffectStepApproved, e.workerID, e.id)
	return t.acted(e, c, body.Comment)
}

func (t *Tenant) deny(c *call) (reply, error) {
	e, s, err := t.openStepOf(c)
	if err != nil {
		return reply{}, err
	}
	var body stepBody
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	if strings.TrimSpace(body.Comment) == "" {
		return reply{}, invalid(critical("A181", "comment", "A comment is required."))
	}
	s.finish(stepDenied, c.subject, body.Comment, t.now())
	t.stop(e, eventDenied, statusGone)
	t.record(c, EffectStepDenied, e.workerID, e.id)
	return t.acted(e, c, body.Comment)
}

func (t *Tenant) sendBack(c *call) (reply, error) {
	e, s, err := t.openStepOf(c)
	if err != nil {
		return reply{}, err
	}
	var body stepBody
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	if body.Reason == "" {
		return reply{}, invalid(critical("A181", "reason", "A reason is required."))
	}
	if e.process != RequestTimeOff {
		return reply{}, invalid(critical("A202", "to", "Sending back isn't supported for this process."))
	}
	s.finish(stepSentBack, c.subject, body.Reason, t.now())
	t.stop(e, eventSentBack, statusSentBack)
	t.record(c, EffectStepSentBack, e.workerID, e.id)
	return t.acted(e, c, body.Reason)
}

func (t *Tenant) cancel(c *call) (reply, error) {
	return t.end(c, eventCancelled, EffectEventCancelled, func(e *event) bool {
		return e.status == eventInProgress || e.status == eventSaved || e.status == eventSentBack
	})
}

func (t *Tenant) rescind(c *call) (reply, error) {
	return t.end(c, eventRescinded, EffectEventRescinded, func(e *event) bool { return e.status == eventCompleted })
}

func (t *Tenant) end(c *call, status, effect string, allowed func(*event) bool) (reply, error) {
	e, err := t.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	var body stepBody
	if len(c.body) > 0 {
		if err := c.decode(&body); err != nil {
			return reply{}, err
		}
	}
	if !allowed(e) {
		return reply{}, invalid(critical("", "id", "The process is "+e.status+" and can't be "+strings.ToLower(status)+"."))
	}
	t.stop(e, status, statusGone)
	t.record(c, effect, e.workerID, e.id)
	return t.acted(e, c, body.Comment)
}

// acted is the answer to an action on an event.
func (t *Tenant) acted(e *event, c *call, text string) (reply, error) {
	if text != "" {
		e.comments = append(e.comments, comment{person: c.subject, text: text, at: t.now()})
	}
	return reply{status: http.StatusCreated, body: map[string]any{
		"id": c.path("id"), "comment": text, "eventStatus": eventStatus(e),
	}}, nil
}

func eventStatus(e *event) *ref {
	return &ref{ID: digest("eventStatus", e.status), Descriptor: e.status}
}

func (t *Tenant) eventRef(e *event) *ref {
	return &ref{ID: e.id, Descriptor: string(e.process) + ": " + t.company.byID[e.workerID].descriptor()}
}

func (t *Tenant) renderEvent(e *event) map[string]any {
	out := map[string]any{
		"id": e.id, "descriptor": t.eventRef(e).Descriptor, "status": eventStatus(e),
		"for": t.personRef(e.workerID), "initiator": t.personRef(e.initiator),
		"overallBusinessProcess": t.eventRef(e), "effectiveDate": e.effective,
		"creationDate": stamp(e.created), "dueDate": e.created.AddDate(0, 0, 7).Format(time.DateOnly),
		"subBusinessProcesses": []ref{},
	}
	if !e.completed.IsZero() {
		out["completedDate"] = stamp(e.completed)
	}
	return out
}

func (t *Tenant) renderStep(e *event, s *step) map[string]any {
	out := map[string]any{
		"id": s.id, "descriptor": "Approval by Manager", "event": t.eventRef(e), "overallProcess": t.eventRef(e),
		"businessProcess": ref{ID: digest("definition", string(e.process)), Descriptor: string(e.process)},
		"stepType":        ref{ID: digest("stepType", "Approval"), Descriptor: "Approval"},
		"status":          ref{ID: digest("stepStatus", s.status), Descriptor: s.status},
		"order":           "b", "creationDate": stamp(s.created),
	}
	if s.status == stepAwaiting {
		out["awaitingPersons"] = []*ref{t.personRef(s.assigneeID)}
		return out
	}
	out["completedDate"] = stamp(s.completed)
	if s.completedBy != "" {
		out["completedByPerson"] = t.personRef(s.completedBy)
	}
	return out
}

func (t *Tenant) personRef(id string) *ref {
	if id == systemUser {
		return &ref{ID: digest("systemUser"), Descriptor: systemUser}
	}
	w := t.company.byID[id]
	return &ref{ID: w.id, Descriptor: w.descriptor()}
}

func stamp(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
