package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// processes is the business-process service.
type processes struct {
	*books

	// old leaves out the actions on events, which the specification of 2026-04 added.
	old bool
}

func (p *processes) processRoutes(on func(pattern string, h handler)) {
	on("GET /types", p.listTypes)
	on("GET /types/{id}", p.getType)
	on("GET /events", p.listEvents)
	on("GET /events/{id}", p.getEvent)
	on("GET /events/{id}/comments", p.listComments)
	on("GET /events/{id}/completedSteps", p.listSteps(func(s *step) bool { return s.status != stepAwaiting }))
	on("GET /events/{id}/inProgressSteps", p.listSteps(func(s *step) bool { return s.status == stepAwaiting }))
	on("GET /events/{id}/remainingSteps", p.listSteps(func(*step) bool { return false }))
	on("GET /eventSteps", p.listOpenSteps)
	on("GET /eventSteps/{id}", p.getStep)
	on("POST /eventSteps/{id}/approve", p.approve)
	on("POST /eventSteps/{id}/deny", p.deny)
	on("POST /eventSteps/{id}/sendBack", p.sendBack)
	on("GET /values/sendBack/to/", p.listTargets)
	if p.old {
		return
	}
	on("POST /events/{id}/cancel", p.cancel)
	on("POST /events/{id}/rescind", p.rescind)
}

func (p *processes) listTypes(c *call) (reply, error) {
	return paged(c, p.process.types, func(r ref) any { return r })
}

func (p *processes) getType(c *call) (reply, error) {
	for _, r := range p.process.types {
		if r.ID == c.path("id") {
			return ok(r)
		}
	}
	return reply{}, notFound()
}

func (p *processes) listEvents(c *call) (reply, error) {
	if len(c.query["worker"]) != 1 {
		return reply{}, badRequest("exactly one worker is required")
	}
	w, found := p.company.find(c.query.Get("worker"), c.subject)
	if !found {
		return reply{}, notFound()
	}
	var list []*event
	for _, e := range slices.Backward(p.process.events) {
		if e.workerID == w.id && p.visible(e, c.subject) && hasStatus(c, e) {
			list = append(list, e)
		}
	}
	return paged(c, list, func(e *event) any { return p.renderEvent(e) })
}

func hasStatus(c *call, e *event) bool {
	wanted := c.query["status"]
	return len(wanted) == 0 || slices.Contains(wanted, eventStatus(e).ID) || slices.Contains(wanted, e.status)
}

func (p *processes) getEvent(c *call) (reply, error) {
	e, err := p.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	return ok(p.renderEvent(e))
}

func (p *processes) listComments(c *call) (reply, error) {
	e, err := p.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	return paged(c, e.comments, func(m comment) any {
		return map[string]any{"person": p.personRef(m.person), "comment": m.text, "commentDate": stamp(m.at)}
	})
}

func (p *processes) listSteps(want func(*step) bool) handler {
	return func(c *call) (reply, error) {
		e, err := p.eventOf(c)
		if err != nil {
			return reply{}, err
		}
		var list []*step
		for _, s := range e.steps {
			if want(s) {
				list = append(list, s)
			}
		}
		return paged(c, list, func(s *step) any { return p.renderStep(e, s) })
	}
}

// listOpenSteps returns the steps that await the caller, or all if the caller is the system user.
func (p *processes) listOpenSteps(c *call) (reply, error) {
	type item struct {
		e *event
		s *step
	}
	var list []item
	for _, e := range p.process.events {
		s := e.openStep()
		if s != nil && (c.subject == systemUser || s.assigneeID == c.subject) {
			list = append(list, item{e, s})
		}
	}
	return paged(c, list, func(i item) any { return p.renderStep(i.e, i.s) })
}

func (p *processes) stepOf(c *call) (*event, *step, error) {
	e, s := p.process.step(c.path("id"))
	if s == nil || !p.visible(e, c.subject) {
		return nil, nil, notFound()
	}
	return e, s, nil
}

func (p *processes) getStep(c *call) (reply, error) {
	e, s, err := p.stepOf(c)
	if err != nil {
		return reply{}, err
	}
	return ok(p.renderStep(e, s))
}

// openStepOf returns the step of the path if the caller may act on it.
func (p *processes) openStepOf(c *call) (*event, *step, error) {
	e, s, err := p.stepOf(c)
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

func (p *processes) approve(c *call) (reply, error) {
	e, s, err := p.openStepOf(c)
	if err != nil {
		return reply{}, err
	}
	var body stepBody
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	s.finish(stepCompleted, c.subject, body.Comment, p.now())
	p.complete(e)
	p.record(c, EffectStepApproved, e.workerID, e.id)
	return p.acted(e, c, body.Comment)
}

func (p *processes) deny(c *call) (reply, error) {
	e, s, err := p.openStepOf(c)
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
	s.finish(stepDenied, c.subject, body.Comment, p.now())
	p.stop(e, eventDenied, statusGone)
	p.record(c, EffectStepDenied, e.workerID, e.id)
	return p.acted(e, c, body.Comment)
}

func (p *processes) sendBack(c *call) (reply, error) {
	e, s, err := p.openStepOf(c)
	if err != nil {
		return reply{}, err
	}
	var body stepBody
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	switch {
	case body.Reason == "":
		return reply{}, invalid(critical("A181", "reason", "A reason is required."))
	case e.process != RequestTimeOff:
		return reply{}, invalid(critical("A202", "to", "Sending back isn't supported for this process."))
	case body.To.ID != p.personRef(e.initiator).ID:
		return reply{}, invalid(critical("A227", "to", "The step can't be sent back to that person."))
	}
	s.finish(stepSentBack, c.subject, body.Reason, p.now())
	p.stop(e, eventSentBack, statusSentBack)
	p.record(c, EffectStepSentBack, e.workerID, e.id)
	return p.acted(e, c, body.Reason)
}

// listTargets returns the people to whom a step can be sent back: the initiator.
func (p *processes) listTargets(c *call) (reply, error) {
	e, s := p.process.step(c.query.Get("eventStep"))
	if s == nil || !p.visible(e, c.subject) {
		return reply{}, notFound()
	}
	var list []*ref
	if e.process == RequestTimeOff {
		list = append(list, p.personRef(e.initiator))
	}
	return paged(c, list, func(r *ref) any { return r })
}

func (p *processes) cancel(c *call) (reply, error) {
	return p.end(c, eventCancelled, EffectEventCancelled, func(e *event) bool {
		return e.status == eventInProgress || e.status == eventSaved || e.status == eventSentBack
	})
}

func (p *processes) rescind(c *call) (reply, error) {
	return p.end(c, eventRescinded, EffectEventRescinded, func(e *event) bool { return e.status == eventCompleted })
}

func (p *processes) end(c *call, status, effect string, allowed func(*event) bool) (reply, error) {
	e, err := p.eventOf(c)
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
	p.stop(e, status, statusGone)
	p.record(c, effect, e.workerID, e.id)
	return p.acted(e, c, body.Comment)
}

// acted adds a comment and returns the answer to an action on an event.
func (p *processes) acted(e *event, c *call, text string) (reply, error) {
	if text != "" {
		e.comments = append(e.comments, comment{person: c.subject, text: text, at: p.now()})
	}
	return reply{status: http.StatusCreated, body: map[string]any{
		"id": c.path("id"), "comment": text, "eventStatus": eventStatus(e),
	}}, nil
}

func eventStatus(e *event) *ref {
	return &ref{ID: digest("eventStatus", e.status), Descriptor: e.status}
}

func (p *processes) renderEvent(e *event) map[string]any {
	out := map[string]any{
		"id": e.id, "descriptor": p.eventRef(e).Descriptor, "status": eventStatus(e),
		"for": p.personRef(e.workerID), "initiator": p.personRef(e.initiator),
		"overallBusinessProcess": p.eventRef(e), "effectiveDate": e.effective,
		"creationDate": stamp(e.created), "dueDate": e.created.AddDate(0, 0, 7).Format(time.DateOnly),
		"subBusinessProcesses": []ref{},
	}
	if !e.completed.IsZero() {
		out["completedDate"] = stamp(e.completed)
	}
	return out
}

func (p *processes) renderStep(e *event, s *step) map[string]any {
	out := map[string]any{
		"id": s.id, "descriptor": "Approval by Manager", "event": p.eventRef(e), "overallProcess": p.eventRef(e),
		"businessProcess": ref{ID: digest("definition", string(e.process)), Descriptor: string(e.process)},
		"stepType":        ref{ID: digest("stepType", "Approval"), Descriptor: "Approval"},
		"status":          ref{ID: digest("stepStatus", s.status), Descriptor: s.status},
		"order":           "b", "creationDate": stamp(s.created),
	}
	if s.status == stepAwaiting {
		out["awaitingPersons"] = []*ref{p.personRef(s.assigneeID)}
		return out
	}
	out["completedDate"] = stamp(s.completed)
	if s.comment != "" {
		out["comments"] = []any{map[string]any{"comment": s.comment}}
	}
	if s.completedBy != "" {
		out["completedByPerson"] = p.personRef(s.completedBy)
	}
	return out
}

func stamp(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
