package sandbox

import (
	"slices"
	"time"
)

// Statuses of events and steps in Workday's wording.
const (
	eventInProgress = "In Progress"
	eventCompleted  = "Successfully Completed"
	eventDenied     = "Denied"
	eventCancelled  = "Canceled"
	eventRescinded  = "Rescinded"
	eventSentBack   = "Sent Back"
	eventSaved      = "Saved for Later"

	stepAwaiting  = "Awaiting Action"
	stepCompleted = "Completed"
	stepDenied    = "Denied"
	stepSentBack  = "Sent Back"
	stepDropped   = "Not Required"
)

// event is an instance of a business process.
type event struct {
	id                 string
	process            Process
	workerID           string
	initiator          string
	status             string
	effective          string
	created, completed time.Time
	steps              []*step
	comments           []comment
	seeded             bool // part of the company's history

	// The changes made when the event completes. Entries of a time-off request refer to the event
	// by its id instead.
	title       *titleChange
	job         *jobChange
	corrections []correction
}

type step struct {
	id, status           string
	assigneeID           string
	created, completed   time.Time
	completedBy, comment string
}

type comment struct {
	person, text string
	at           time.Time
}

type titleChange struct{ current, proposed string }

type correction struct {
	entry    *entry
	remove   bool
	quantity float64
}

type process struct {
	events []*event
	types  []ref
}

func seedProcess(c company, a absence) process {
	var p process
	for i, name := range processTypes() {
		p.types = append(p.types, ref{ID: wid("processType", i), Descriptor: name})
	}
	status := map[entryStatus]string{
		statusApproved: eventCompleted, statusSubmitted: eventInProgress,
		statusNotSubmitted: eventSaved, statusSentBack: eventSentBack,
	}
	for _, e := range a.entries {
		at, err := time.Parse(time.DateOnly, e.date)
		if err != nil {
			continue
		}
		ev := &event{
			id: e.eventID, process: RequestTimeOff, workerID: e.workerID, initiator: e.workerID,
			status: status[e.status], effective: e.date, created: at.AddDate(0, 0, -14), seeded: true,
		}
		switch ev.status {
		case eventCompleted:
			ev.completed = ev.created.AddDate(0, 0, 1)
		case eventInProgress:
			ev.steps = []*step{newStep(ev, c.byID[e.workerID].managerID, ev.created)}
		}
		p.events = append(p.events, ev)
	}
	return p
}

func newStep(e *event, assigneeID string, at time.Time) *step {
	return &step{
		id:         digest("step", e.id, assigneeID),
		status:     stepAwaiting,
		assigneeID: assigneeID,
		created:    at,
	}
}

func (p *process) event(id string) *event {
	i := slices.IndexFunc(p.events, func(e *event) bool { return e.id == id })
	if i < 0 {
		return nil
	}
	return p.events[i]
}

func (p *process) step(id string) (*event, *step) {
	for _, e := range p.events {
		for _, s := range e.steps {
			if s.id == id {
				return e, s
			}
		}
	}
	return nil, nil
}

func (e *event) openStep() *step {
	i := slices.IndexFunc(e.steps, func(s *step) bool { return s.status == stepAwaiting })
	if i < 0 {
		return nil
	}
	return e.steps[i]
}

// visible reports whether a user may see an event; an invisible one is answered with 404.
func (b *books) visible(e *event, subject string) bool {
	return subject == systemUser || e.workerID == subject || e.initiator == subject ||
		slices.ContainsFunc(e.steps, func(s *step) bool { return s.assigneeID == subject })
}

// start creates an event that is not submitted yet.
func (b *books) start(c *call, e *event) {
	e.id = wid("event", len(b.process.events))
	e.initiator, e.status, e.created = c.subject, eventInProgress, b.now()
	b.process.events = append(b.process.events, e)
}

// submit submits an event. It waits for the worker's manager if the process needs an approval and
// there is a manager; otherwise it takes effect at once.
func (b *books) submit(e *event) {
	for _, day := range b.absence.ofEvent(e.id) {
		b.absence.settle(day, statusSubmitted)
	}
	manager := b.company.byID[e.workerID].managerID
	if manager != "" && slices.Contains(b.needsApproval, e.process) {
		e.steps = append(e.steps, newStep(e, manager, b.now()))
		return
	}
	b.complete(e)
}

// complete applies the event's change.
func (b *books) complete(e *event) {
	e.status, e.completed = eventCompleted, b.now()
	for _, day := range b.absence.ofEvent(e.id) {
		b.absence.settle(day, statusApproved)
	}
	for _, fix := range e.corrections {
		if fix.remove {
			b.absence.settle(fix.entry, statusGone)
			continue
		}
		b.absence.settle(fix.entry, statusSubmitted)
		fix.entry.quantity = fix.quantity
		b.absence.settle(fix.entry, statusApproved)
	}
	if e.title != nil {
		b.company.byID[e.workerID].title = e.title.proposed
	}
	if e.job != nil {
		b.company.move(b.company.byID[e.workerID], e.job.to, e.job.moveTeam)
	}
}

// stop ends an event without its change, or reverts the change.
func (b *books) stop(e *event, status string, entries entryStatus) {
	for _, s := range e.steps {
		if s.status == stepAwaiting {
			s.status, s.completed = stepDropped, b.now()
		}
	}
	if e.title != nil && e.status == eventCompleted {
		b.company.byID[e.workerID].title = e.title.current
	}
	if e.job != nil && e.status == eventCompleted {
		b.company.move(b.company.byID[e.workerID], e.job.from, e.job.moveTeam)
	}
	for _, day := range b.absence.ofEvent(e.id) {
		if day.status != statusGone {
			b.absence.settle(day, entries)
		}
	}
	for _, fix := range e.corrections {
		if e.status == eventCompleted && fix.remove && fix.entry.status == statusGone {
			b.absence.settle(fix.entry, statusApproved)
		}
	}
	e.status, e.completed = status, b.now()
}

func (s *step) finish(status, by, text string, at time.Time) {
	s.status, s.completedBy, s.comment, s.completed = status, by, text, at
}
