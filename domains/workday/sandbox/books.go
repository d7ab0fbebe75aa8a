package sandbox

import (
	"time"
)

// books is the data of the tenant: workers, absences, business processes and recorded writes. The
// tenant's mutex guards it; services access it only during a call.
type books struct {
	clock         func() time.Time
	offset        time.Duration // how far the clock was advanced
	needsApproval []Process

	company company
	absence absence
	process process
	effects []Effect // oldest first
}

// onWorker passes the worker of the path to a handler.
func (b *books) onWorker(h func(*call, *worker) (reply, error)) handler {
	return func(c *call) (reply, error) {
		w, found := b.company.find(c.path("id"), c.subject)
		if !found {
			return reply{}, notFound()
		}
		return h(c, w)
	}
}

// eventOf returns the event of the path if the caller may see it.
func (b *books) eventOf(c *call) (*event, error) {
	e := b.process.event(c.path("id"))
	if e == nil || !b.visible(e, c.subject) {
		return nil, notFound()
	}
	return e, nil
}

func (b *books) eventRef(e *event) *ref {
	return &ref{ID: e.id, Descriptor: string(e.process) + ": " + b.company.byID[e.workerID].descriptor()}
}

func (b *books) personRef(id string) *ref {
	if id == systemUser {
		return &ref{ID: digest("systemUser"), Descriptor: systemUser}
	}
	w := b.company.byID[id]
	return &ref{ID: w.id, Descriptor: w.descriptor()}
}

// now returns the tenant's time.
func (b *books) now() time.Time { return b.clock().Add(b.offset).UTC() }
