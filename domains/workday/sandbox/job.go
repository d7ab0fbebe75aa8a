package sandbox

import (
	"slices"
	"time"
)

// jobChange is a move to another organization.
type jobChange struct {
	from, to string // organizations
	moveTeam bool
}

// jobReasons returns the possible reasons for a change of job.
func jobReasons() []ref {
	var out []ref
	for i, name := range []string{"Transfer to Another Manager", "Lateral Move", "Promotion", "Reorganization", "Return from Assignment"} {
		out = append(out, ref{ID: wid("jobReason", i), Descriptor: name})
	}
	return out
}

func (p *people) jobRoutes(on func(pattern string, h handler)) {
	on("GET /jobChangeReasons", func(c *call) (reply, error) {
		return paged(c, jobReasons(), func(r ref) any { return r })
	})
	on("POST /workers/{id}/jobChanges", p.onWorker(p.changeJob))
}

func (p *people) changeJob(c *call, w *worker) (reply, error) {
	var body struct {
		Organization ref    `json:"supervisoryOrganization"`
		Reason       ref    `json:"jobChangeReason"`
		Effective    string `json:"effective"`
		MoveTeam     bool   `json:"moveManagersTeam"`
	}
	if err := c.decode(&body); err != nil {
		return reply{}, err
	}
	if err := p.mayChangeJob(c, w, body.Organization.ID, body.Reason.ID, body.Effective); err != nil {
		return reply{}, err
	}
	e := &event{
		process: ChangeJob, workerID: w.id, effective: body.Effective,
		job: &jobChange{from: w.orgID, to: body.Organization.ID, moveTeam: body.MoveTeam},
	}
	p.start(c, e)
	p.submit(e)
	p.record(c, EffectJobChanged, w.id, e.id)
	return created(map[string]any{
		"id": e.id, "descriptor": p.eventRef(e).Descriptor, "effective": e.effective, "supervisoryOrganization": ref{ID: e.job.to, Descriptor: p.company.orgByID[e.job.to].name},
	})
}

func (p *people) mayChangeJob(c *call, w *worker, org, reason, effective string) error {
	_, dateErr := time.Parse(time.DateOnly, effective)
	switch {
	case w.terminated:
		return notFound()
	case c.subject != systemUser && c.subject != w.managerID:
		return forbidden()
	case w.moreJobs:
		return invalid(critical("", "id", "Workers with additional jobs aren't supported."))
	case p.company.orgByID[org] == nil:
		return invalid(critical("", "supervisoryOrganization", "The supervisory organization is required."))
	case p.company.orgByID[org].managerID == w.id:
		return invalid(critical("", "supervisoryOrganization", "A worker can't report to themselves."))
	case !slices.ContainsFunc(jobReasons(), func(r ref) bool { return r.ID == reason }):
		return invalid(critical("", "jobChangeReason", "The job change reason isn't valid."))
	case dateErr != nil:
		return invalid(critical("", "effective", "The effective date is required."))
	}
	for _, e := range p.process.events {
		if e.workerID == w.id && e.job != nil && e.status == eventInProgress {
			return invalid(critical("", "effective", "An effective later process exists: a change of job is already in progress."))
		}
	}
	return nil
}

// move moves a worker to an organization. Their reports stay with the manager of the old
// organization, unless team is set.
func (c *company) move(w *worker, to string, team bool) {
	if !team {
		for _, report := range c.workers {
			if report.managerID == w.id && w.managerID != "" {
				report.managerID, report.orgID = w.managerID, w.orgID
			}
		}
	}
	w.orgID, w.managerID = to, c.orgByID[to].managerID
}
