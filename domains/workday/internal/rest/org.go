package rest

import (
	"context"
	"net/url"
)

func (o Organization) identity() string { return o.ID }

// Company reads what there is beside people, and moves them.
type Company struct{ c *Client }

// NewCompany makes it of a client.
func NewCompany(c *Client) Company { return Company{c} }

// mostOrganizations bounds the organizations of a tenant that are read.
const mostOrganizations = 2000

// Organizations lists the supervisory organizations.
func (o Company) Organizations(ctx context.Context) (Page[Organization], error) {
	return list[Organization](ctx, o.c, o.c.cfg.Paths.Common+"/supervisoryOrganizations", nil, mostOrganizations)
}

// Members lists the people of an organization.
func (o Company) Members(ctx context.Context, id string, most int) (Page[Worker], error) {
	return list[Worker](ctx, o.c, o.c.cfg.Paths.Common+"/supervisoryOrganizations/"+url.PathEscape(id)+"/workers", nil, most)
}

// JobPosting is a job that is posted, as the recruiting service shows one.
type JobPosting struct {
	ID         string `json:"id"`
	Descriptor string `json:"descriptor"`
	Title      string `json:"title"`
	Primary    Ref    `json:"primaryLocation"`
	Additional []Ref  `json:"additionalLocations"`
	TimeType   Ref    `json:"timeType"`
	Start      string `json:"startDate"`
	End        string `json:"endDate"`
	URL        string `json:"url"`
}

func (p JobPosting) identity() string { return p.ID }

// Places are where the job is, the first of them before the others.
func (p JobPosting) Places() []string {
	var out []string
	for _, place := range append([]Ref{p.Primary}, p.Additional...) {
		if place.Descriptor != "" {
			out = append(out, place.Descriptor)
		}
	}
	return out
}

// JobPostings lists the jobs that are posted.
func (o Company) JobPostings(ctx context.Context) (Page[JobPosting], error) {
	return list[JobPosting](ctx, o.c, o.c.cfg.Paths.Recruiting+"/jobPostings", nil, 1000)
}

// JobChange is what a change of job is asked for with.
type JobChange struct {
	Organization Ref    `json:"supervisoryOrganization"`
	Reason       Ref    `json:"jobChangeReason"`
	Effective    string `json:"effective"`
	MoveTeam     bool   `json:"moveManagersTeam"`
}

// ChangeJob submits a change of job; what it gives is the event.
func (o Company) ChangeJob(ctx context.Context, worker string, in JobChange) (Ref, error) {
	var out Ref
	err := o.c.post(ctx, o.c.cfg.Paths.Common+"/workers/"+url.PathEscape(worker)+"/jobChanges", in, &out)
	return out, err
}

// JobChangeReasons lists the reasons for which a job may be changed.
func (o Company) JobChangeReasons(ctx context.Context) ([]Ref, error) {
	page, err := list[Ref](ctx, o.c, o.c.cfg.Paths.Common+"/jobChangeReasons", nil, 500)
	return page.Items, err
}
