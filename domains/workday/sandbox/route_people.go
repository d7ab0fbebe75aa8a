package sandbox

import (
	"strings"
	"time"
)

// people are the services about workers and organizations: the common and the staffing service.
type people struct{ *books }

func (p *people) commonRoutes(on func(pattern string, h handler)) {
	on("GET /workers", p.listWorkers)
	on("GET /workers/{id}", p.onWorker(p.getWorker))
	on("GET /workers/{id}/directReports", p.onWorker(p.listReports))
	on("GET /workers/{id}/inboxTasks", p.onWorker(p.listInbox))
	on("GET /workers/{id}/businessTitleChanges", p.onWorker(p.listTitleChanges))
	on("POST /workers/{id}/businessTitleChanges", p.onWorker(p.changeTitle))
	on("GET /businessTitleChanges/{id}", p.getTitleChange)
	p.jobRoutes(on)
	on("GET /supervisoryOrganizations", p.listOrgs)
	on("GET /supervisoryOrganizations/{id}", p.onOrg(p.getOrg))
	on("GET /supervisoryOrganizations/{id}/workers", p.onOrg(p.listMembers))
}

func (p *people) staffingRoutes(on func(pattern string, h handler)) {
	on("GET /workers", p.listStaff)
	on("GET /workers/{id}", p.onWorker(func(_ *call, w *worker) (reply, error) { return ok(p.renderStaff(w)) }))
	on("GET /supervisoryOrganizations", p.listOrgs)
	on("GET /supervisoryOrganizations/{id}", p.onOrg(p.getOrg))
	on("GET /supervisoryOrganizations/{id}/members", p.onOrg(p.listMembers))
}

// onOrg passes the organization of the path to a handler.
func (p *people) onOrg(h func(*call, *org) (reply, error)) handler {
	return func(c *call) (reply, error) {
		o := p.company.orgByID[c.path("id")]
		if o == nil {
			return reply{}, notFound()
		}
		return h(c, o)
	}
}

func (p *people) listWorkers(c *call) (reply, error) {
	return paged(c, p.company.search(c.query.Get("search"), false, false), p.renderWorker(c))
}

func (p *people) getWorker(c *call, w *worker) (reply, error) {
	out := p.renderWorker(c)(w)
	fields, isMap := out.(map[string]any)
	if !isMap {
		return ok(out)
	}
	fields["location"] = siteRef(w.site)
	fields["primaryWorkAddressText"] = w.site.name + ", " + w.site.country
	fields["yearsOfService"] = 1 + len(w.name)%9
	fields["dateOfBirth"] = time.Date(1970+len(w.title)%30, time.Month(1+len(w.name)%12), 11, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	return ok(fields)
}

func (p *people) listReports(c *call, w *worker) (reply, error) {
	return paged(c, p.company.reports(w.id), p.renderWorker(c))
}

// listStaff searches like the staffing service: also by worker number, and terminated people on
// request.
func (p *people) listStaff(c *call) (reply, error) {
	terminated := c.query.Get("includeTerminatedWorkers") == "true"
	list := p.company.search(c.query.Get("search"), terminated, true)
	if email := c.query.Get("email"); email != "" {
		list = nil
		for _, w := range p.company.workers {
			if strings.EqualFold(w.email, email) {
				list = append(list, w)
			}
		}
	}
	return paged(c, list, func(w *worker) any { return p.renderStaff(w) })
}

func (p *people) listOrgs(c *call) (reply, error) {
	return paged(c, p.company.orgs, func(o *org) any { return p.renderOrg(c, o) })
}

func (p *people) getOrg(c *call, o *org) (reply, error) { return ok(p.renderOrg(c, o)) }

func (p *people) listMembers(c *call, o *org) (reply, error) {
	var list []*worker
	for _, w := range p.company.workers {
		if w.orgID == o.id && !w.terminated {
			list = append(list, w)
		}
	}
	return paged(c, byName(list), p.renderWorker(c))
}

func (p *people) listInbox(c *call, w *worker) (reply, error) {
	type task struct {
		e *event
		s *step
	}
	var list []task
	for _, e := range p.process.events {
		if s := e.openStep(); s != nil && s.assigneeID == w.id {
			list = append(list, task{e, s})
		}
	}
	return paged(c, list, func(k task) any {
		return map[string]any{
			"id": k.s.id, "descriptor": p.eventRef(k.e).Descriptor, "href": c.hrefOf("/workers/", "/inboxTasks/"+k.s.id),
			"assigned": stamp(k.s.created), "due": k.s.created.AddDate(0, 0, 7).Format(time.DateOnly),
			"initiator": p.personRef(k.e.initiator), "subject": p.personRef(k.e.workerID),
			"status":         ref{ID: digest("stepStatus", k.s.status), Descriptor: k.s.status},
			"stepType":       ref{ID: digest("stepType", "Approval"), Descriptor: "Approval"},
			"overallProcess": p.eventRef(k.e),
		}
	})
}

func (p *people) listTitleChanges(c *call, w *worker) (reply, error) {
	var list []*event
	for _, e := range p.process.events {
		if e.workerID == w.id && e.title != nil && p.visible(e, c.subject) {
			list = append(list, e)
		}
	}
	return paged(c, list, func(e *event) any { return p.renderTitleChange(c, e) })
}

func (p *people) getTitleChange(c *call) (reply, error) {
	e, err := p.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	if e.title == nil {
		return reply{}, notFound()
	}
	return ok(p.renderTitleChange(c, e))
}

const longestTitle = 100

func (p *people) changeTitle(c *call, w *worker) (reply, error) {
	var body struct {
		Proposed string `json:"proposedBusinessTitle"`
	}
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	proposed := strings.TrimSpace(body.Proposed)
	if err := p.mayChangeTitle(c, w, proposed); err != nil {
		return reply{}, err
	}
	e := &event{
		process: ChangeBusinessTitle, workerID: w.id, effective: p.now().Format(time.DateOnly),
		title: &titleChange{current: w.title, proposed: proposed},
	}
	p.start(c, e)
	p.submit(e)
	p.record(c, EffectTitleChanged, w.id, e.id)
	return created(p.renderTitleChange(c, e))
}

func (p *people) mayChangeTitle(c *call, w *worker, proposed string) error {
	field := "proposedBusinessTitle"
	switch {
	case proposed == "" || len(proposed) > longestTitle:
		return invalid(critical("", field, "The business title is required and has at most 100 characters."))
	case w.terminated:
		return notFound()
	case w.id == c.subject && c.query.Get("type") != "me":
		return invalid(critical("", field, "Worker submitted is the processing user."))
	case c.subject != systemUser && c.subject != w.id && c.subject != w.managerID:
		return forbidden()
	case w.moreJobs:
		return invalid(critical("", field, "Workers with additional jobs aren't supported."))
	}
	for _, e := range p.process.events {
		if e.workerID == w.id && e.title != nil && e.status == eventInProgress {
			return invalid(critical("", field, "An effective later process exists: a title change is already in progress."))
		}
	}
	return nil
}

func (p *people) renderTitleChange(c *call, e *event) map[string]any {
	return map[string]any{
		"id": e.id, "descriptor": p.eventRef(e).Descriptor, "href": c.hrefOf("/workers/", "/businessTitleChanges/"+e.id),
		"currentBusinessTitle": e.title.current, "proposedBusinessTitle": e.title.proposed,
		"effective": e.effective, "initiated": stamp(e.created),
		"due":       e.created.AddDate(0, 0, 7).Format(time.DateOnly),
		"initiator": p.personRef(e.initiator), "subject": p.personRef(e.workerID),
	}
}

func (p *people) renderWorker(c *call) func(*worker) any {
	return func(w *worker) any {
		out := map[string]any{
			"id": w.id, "descriptor": w.descriptor(), "href": c.hrefOf("/workers", "/workers/"+w.id),
			"businessTitle": w.title, "isManager": p.company.isManager(w.id), "primaryWorkPhone": w.phone,
		}
		if w.email != "" {
			out["primaryWorkEmail"] = w.email
		}
		if o := p.company.orgByID[w.orgID]; o != nil {
			out["primarySupervisoryOrganization"] = ref{ID: o.id, Descriptor: o.name, Href: c.hrefOf("/workers", "/supervisoryOrganizations/"+o.id)}
		}
		return out
	}
}

func (p *people) renderStaff(w *worker) map[string]any {
	kind := "Employee"
	if w.contingent {
		kind = "Contingent Worker"
	}
	job := map[string]any{
		"id": digest("position", w.id), "descriptor": w.title + " - " + w.name, "businessTitle": w.title,
		"jobType":    ref{Descriptor: "Primary"},
		"jobProfile": ref{ID: digest("jobProfile", w.title), Descriptor: w.title},
		"location":   siteRef(w.site),
	}
	if o := p.company.orgByID[w.orgID]; o != nil {
		job["supervisoryOrganization"] = ref{ID: o.id, Descriptor: o.name}
	}
	out := map[string]any{
		"id": w.id, "descriptor": w.descriptor(), "workerId": w.number,
		"workerType": ref{ID: digest("workerType", kind), Descriptor: kind},
		"person":     map[string]any{"id": digest("person", w.id), "email": w.email, "phone": w.phone},
		"primaryJob": job, "additionalJobs": []any{},
	}
	if w.moreJobs {
		out["additionalJobs"] = []any{map[string]any{
			"id": digest("additional", w.id), "descriptor": "Trainer - " + w.name, "businessTitle": "Trainer",
			"jobType": ref{Descriptor: "Additional Job"},
		}}
	}
	return out
}

func (p *people) renderOrg(c *call, o *org) map[string]any {
	return map[string]any{
		"id": o.id, "descriptor": o.name, "name": o.name, "code": o.code,
		"href":    c.hrefOf("/supervisoryOrganizations", "/supervisoryOrganizations/"+o.id),
		"manager": p.personRef(o.managerID),
		"workers": c.hrefOf("/supervisoryOrganizations", "/supervisoryOrganizations/"+o.id+"/workers"),
	}
}

func siteRef(s site) map[string]any {
	return map[string]any{
		"id": digest("location", s.name), "descriptor": s.name, "country": ref{Descriptor: s.country},
	}
}
