package rest

import (
	"context"
	"net/url"
)

func (o Organization) identity() string { return o.ID }

// Company reads organizations, job postings and reasons, and submits changes of job.
type Company struct{ c *Client }

// NewCompany returns a Company that uses c.
func NewCompany(c *Client) Company { return Company{c} }

// mostOrganizations bounds the organizations that are read.
const mostOrganizations = 2000

// Organizations returns the supervisory organizations.
func (o Company) Organizations(ctx context.Context) (Page[Organization], error) {
	return list[Organization](ctx, o.c, o.c.cfg.Paths.Common+"/supervisoryOrganizations", nil, mostOrganizations)
}

// Members returns up to most members of an organization.
func (o Company) Members(ctx context.Context, id string, most int) (Page[Worker], error) {
	return list[Worker](ctx, o.c, o.c.cfg.Paths.Common+"/supervisoryOrganizations/"+url.PathEscape(id)+"/workers", nil, most)
}

// JobPosting is a job posting of the recruiting service.
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

// Places returns the locations of the job, primary location first.
func (p JobPosting) Places() []string {
	var out []string
	for _, place := range append([]Ref{p.Primary}, p.Additional...) {
		if place.Descriptor != "" {
			out = append(out, place.Descriptor)
		}
	}
	return out
}

// JobPostings returns the job postings.
func (o Company) JobPostings(ctx context.Context) (Page[JobPosting], error) {
	return list[JobPosting](ctx, o.c, o.c.cfg.Paths.Recruiting+"/jobPostings", nil, 1000)
}

// JobChange is the request body of a change of job.
type JobChange struct {
	Organization Ref    `json:"supervisoryOrganization"`
	Reason       Ref    `json:"jobChangeReason"`
	Effective    string `json:"effective"`
	MoveTeam     bool   `json:"moveManagersTeam"`
}

// ChangeJob submits a change of job and returns its event.
func (o Company) ChangeJob(ctx context.Context, worker string, in JobChange) (Ref, error) {
	var out Ref
	err := o.c.post(ctx, o.c.cfg.Paths.Common+"/workers/"+url.PathEscape(worker)+"/jobChanges", in, &out)
	return out, err
}

// JobChangeReasons returns the possible reasons for a change of job.
func (o Company) JobChangeReasons(ctx context.Context) ([]Ref, error) {
	page, err := list[Ref](ctx, o.c, o.c.cfg.Paths.Common+"/jobChangeReasons", nil, 500)
	return page.Items, err
}
