package sandbox

import (
	"strings"
	"time"
)

func (t *Tenant) commonRoutes(on func(pattern string, h handler)) {
	on("GET /workers", t.listWorkers)
	on("GET /workers/{id}", t.onWorker(t.getWorker))
	on("GET /workers/{id}/directReports", t.onWorker(t.listReports))
	on("GET /workers/{id}/inboxTasks", t.onWorker(t.listInbox))
	on("GET /workers/{id}/businessTitleChanges", t.onWorker(t.listTitleChanges))
	on("POST /workers/{id}/businessTitleChanges", t.onWorker(t.changeTitle))
	on("GET /businessTitleChanges/{id}", t.getTitleChange)
	on("GET /supervisoryOrganizations", t.listOrgs)
	on("GET /supervisoryOrganizations/{id}", t.onOrg(t.getOrg))
	on("GET /supervisoryOrganizations/{id}/workers", t.onOrg(t.listMembers))
}

func (t *Tenant) staffingRoutes(on func(pattern string, h handler)) {
	on("GET /workers", t.listStaff)
	on("GET /workers/{id}", t.onWorker(func(_ *call, w *worker) (reply, error) { return ok(t.renderStaff(w)) }))
	on("GET /supervisoryOrganizations", t.listOrgs)
	on("GET /supervisoryOrganizations/{id}", t.onOrg(t.getOrg))
	on("GET /supervisoryOrganizations/{id}/members", t.onOrg(t.listMembers))
}

// onWorker finds the worker that the path names.
func (t *Tenant) onWorker(h func(*call, *worker) (reply, error)) handler {
	return func(c *call) (reply, error) {
		w, found := t.company.find(c.path("id"), c.subject)
		if !found {
			return reply{}, notFound()
		}
		return h(c, w)
	}
}

func (t *Tenant) onOrg(h func(*call, *org) (reply, error)) handler {
	return func(c *call) (reply, error) {
		o := t.company.orgByID[c.path("id")]
		if o == nil {
			return reply{}, notFound()
		}
		return h(c, o)
	}
}

func (t *Tenant) listWorkers(c *call) (reply, error) {
	return paged(c, t.company.search(c.query.Get("search"), false, false), t.renderWorker(c))
}

func (t *Tenant) getWorker(c *call, w *worker) (reply, error) {
	out := t.renderWorker(c)(w)
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

func (t *Tenant) listReports(c *call, w *worker) (reply, error) {
	return paged(c, t.company.reports(w.id), t.renderWorker(c))
}

// listStaff searches as the staffing service does: also by worker number, and
// terminated people on request.
func (t *Tenant) listStaff(c *call) (reply, error) {
	terminated := c.query.Get("includeTerminatedWorkers") == "true"
	list := t.company.search(c.query.Get("search"), terminated, true)
	if email := c.query.Get("email"); email != "" {
		list = nil
		for _, w := range t.company.workers {
			if strings.EqualFold(w.email, email) {
				list = append(list, w)
			}
		}
	}
	return paged(c, list, func(w *worker) any { return t.renderStaff(w) })
}

func (t *Tenant) listOrgs(c *call) (reply, error) {
	return paged(c, t.company.orgs, func(o *org) any { return t.renderOrg(c, o) })
}

func (t *Tenant) getOrg(c *call, o *org) (reply, error) { return ok(t.renderOrg(c, o)) }

func (t *Tenant) listMembers(c *call, o *org) (reply, error) {
	var list []*worker
	for _, w := range t.company.workers {
		if w.orgID == o.id && !w.terminated {
			list = append(list, w)
		}
	}
	return paged(c, byName(list), t.renderWorker(c))
}

func (t *Tenant) listInbox(c *call, w *worker) (reply, error) {
	type task struct {
		e *event
		s *step
	}
	var list []task
	for _, e := range t.process.events {
		if s := e.openStep(); s != nil && s.assigneeID == w.id {
			list = append(list, task{e, s})
		}
	}
	return paged(c, list, func(k task) any {
		return map[string]any{
			"id": k.s.id, "descriptor": t.eventRef(k.e).Descriptor, "href": c.hrefOf("/workers/", "/inboxTasks/"+k.s.id),
			"assigned": stamp(k.s.created), "due": k.s.created.AddDate(0, 0, 7).Format(time.DateOnly),
			"initiator": t.personRef(k.e.initiator), "subject": t.personRef(k.e.workerID),
			"status":         ref{ID: digest("stepStatus", k.s.status), Descriptor: k.s.status},
			"stepType":       ref{ID: digest("stepType", "Approval"), Descriptor: "Approval"},
			"overallProcess": t.eventRef(k.e),
		}
	})
}

func (t *Tenant) listTitleChanges(c *call, w *worker) (reply, error) {
	var list []*event
	for _, e := range t.process.events {
		if e.workerID == w.id && e.title != nil && t.visible(e, c.subject) {
			list = append(list, e)
		}
	}
	return paged(c, list, func(e *event) any { return t.renderTitleChange(c, e) })
}

func (t *Tenant) getTitleChange(c *call) (reply, error) {
	e, err := t.eventOf(c)
	if err != nil {
		return reply{}, err
	}
	if e.title == nil {
		return reply{}, notFound()
	}
	return ok(t.renderTitleChange(c, e))
}

const longestTitle = 100

func (t *Tenant) changeTitle(c *call, w *worker) (reply, error) {
	var body struct {
		Proposed string `json:"proposedBusinessTitle"`
	}
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	proposed := strings.TrimSpace(body.Proposed)
	if err := t.mayChangeTitle(c, w, proposed); err != nil {
		return reply{}, err
	}
	e := &event{
		process: ChangeBusinessTitle, workerID: w.id, effective: t.now().Format(time.DateOnly),
		title: &titleChange{current: w.title, proposed: proposed},
	}
	t.start(c, e)
	t.submit(e)
	t.record(c, EffectTitleChanged, w.id, e.id)
	return created(t.renderTitleChange(c, e))
}

func (t *Tenant) mayChangeTitle(c *call, w *worker, proposed string) error {
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
	for _, e := range t.process.events {
		if e.workerID == w.id && e.title != nil && e.status == eventInProgress {
			return invalid(critical("", field, "An effective later process exists: a title change is already in progress."))
		}
	}
	return nil
}

func (t *Tenant) renderTitleChange(c *call, e *event) map[string]any {
	return map[string]any{
		"id": e.id, "descriptor": t.eventRef(e).Descriptor, "href": c.hrefOf("/workers/", "/businessTitleChanges/"+e.id),
		"currentBusinessTitle": e.title.current, "proposedBusinessTitle": e.title.proposed,
		"effective": e.effective, "initiated": stamp(e.created),
		"due":       e.created.AddDate(0, 0, 7).Format(time.DateOnly),
		"initiator": t.personRef(e.initiator), "subject": t.personRef(e.workerID),
	}
}

func (t *Tenant) renderWorker(c *call) func(*worker) any {
	return func(w *worker) any {
		out := map[string]any{
			"id": w.id, "descriptor": w.descriptor(), "href": c.hrefOf("/workers", "/workers/"+w.id),
			"businessTitle": w.title, "isManager": t.company.isManager(w.id), "primaryWorkPhone": w.phone,
		}
		if w.email != "" {
			out["primaryWorkEmail"] = w.email
		}
		if o := t.company.orgByID[w.orgID]; o != nil {
			out["primarySupervisoryOrganization"] = ref{ID: o.id, Descriptor: o.name, Href: c.hrefOf("/workers", "/supervisoryOrganizations/"+o.id)}
		}
		return out
	}
}

func (t *Tenant) renderStaff(w *worker) map[string]any {
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
	if o := t.company.orgByID[w.orgID]; o != nil {
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

func (t *Tenant) renderOrg(c *call, o *org) map[string]any {
	return map[string]any{
		"id": o.id, "descriptor": o.name, "name": o.name, "code": o.code,
		"href":    c.hrefOf("/supervisoryOrganizations", "/supervisoryOrganizations/"+o.id),
		"manager": t.personRef(o.managerID),
		"workers": c.hrefOf("/supervisoryOrganizations", "/supervisoryOrganizations/"+o.id+"/workers"),
	}
}

func siteRef(s site) map[string]any {
	return map[string]any{
		"id": digest("location", s.name), "descriptor": s.name, "country": ref{Descriptor: s.country},
	}
}
