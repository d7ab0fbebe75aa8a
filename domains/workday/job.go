package workday

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// JobOrder is a wish to move a worker to another organization.
type JobOrder struct {
	Someone
	Organization string `json:"organization" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the organization to which the worker moves"`
	Effective    string `json:"effective" format:"date" description:"First day in the new organization"`
	Reason       string `json:"reason" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the reason for the change of job"`
	MoveTeam     bool   `json:"move_team" default:"false" description:"Whether those who report to the worker move too"`
}

// JobChange is a change of job after it was asked for.
type JobChange struct {
	RequestID string `json:"request_id"`
	Worker    string `json:"worker"`
	Name      string `json:"worker_name"`
	From      string `json:"previous_organization,omitempty"`
	To        string `json:"organization"`
	Effective string `json:"effective"`
	Status    string `json:"status"`
}

// Summary says from where to where, and how far it is.
func (j JobChange) Summary() string {
	text := "move of " + j.Name
	if j.From != "" && j.From != j.To {
		text += " from " + j.From
	}
	text += " to " + j.To + ", effective " + j.Effective
	if j.Status == stateSubmitted {
		return text + ": submitted, waiting for the approval in Workday"
	}
	return text + ": " + j.Status
}

// jobs are changes of job.
type jobs struct{ d *domain }

// processJob begins the names of the events of such changes.
const processJob = "Change Job"

func (j jobs) register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "list_job_change_reasons"}, colleagues(j.d, j.reasons)),
		domainkit.AddWrite(svc, domainkit.Capability{Name: "change_job", Unmarked: true, Metadata: verified(
			equal("facts.effective", "${params.effective}"), contracts.Condition{Path: "facts.status", In: []any{stateSubmitted, stateApproved}},
		)}, overseen(j.d, j.change), overseen(j.d, j.find)),
	)
}

// ReasonMatch is a reason that may be meant.
type ReasonMatch struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Reasons are those for which a job may be changed.
type Reasons struct {
	Total   int           `json:"total"`
	Reasons []ReasonMatch `json:"reasons"`
}

// Summary names them.
func (r Reasons) Summary() string {
	names := make([]string, 0, len(r.Reasons))
	for _, one := range r.Reasons {
		names = append(names, one.Label)
	}
	return fmt.Sprintf("%s: %s", amount(float64(r.Total), "reasons"), strings.Join(names, ", "))
}

const mostReasons = 100

func (j jobs) reasons(ctx context.Context, _ domainkit.Call, in Filter) (Reasons, error) {
	all, err := rest.NewCompany(j.d.client).JobChangeReasons(ctx)
	if err != nil {
		return Reasons{}, failure(err)
	}
	out := Reasons{Reasons: []ReasonMatch{}}
	for _, r := range all {
		if !strings.Contains(fold(r.Descriptor), fold(strings.TrimSpace(in.Search))) {
			continue
		}
		if out.Total++; out.Total <= mostReasons {
			out.Reasons = append(out.Reasons, ReasonMatch{r.ID, r.Descriptor})
		}
	}
	return out, nil
}

// change submits a change of job. What Workday's process decides of it is followed.
func (j jobs) change(ctx context.Context, _ domainkit.Call, in JobOrder) (JobChange, error) {
	w, err := j.d.worker(ctx, in.Worker)
	if err != nil {
		return JobChange{}, err
	}
	org, err := organizations(j).find(ctx, in.Organization)
	if err != nil {
		return JobChange{}, err
	}
	if w.Organization.ID == org.ID {
		return JobChange{}, domainkit.Refusef(contracts.ErrPrecondition, "%s is in %s already", w.Descriptor, cmp.Or(org.Name, org.Descriptor))
	}
	made, err := rest.NewCompany(j.d.client).ChangeJob(ctx, w.ID, rest.JobChange{
		Organization: rest.Ref{ID: org.ID}, Reason: rest.Ref{ID: in.Reason}, Effective: in.Effective, MoveTeam: in.MoveTeam,
	})
	if err != nil {
		return JobChange{}, failure(err)
	}
	out := JobChange{
		RequestID: made.ID, Worker: w.ID, Name: w.Descriptor, From: w.Organization.Descriptor, To: cmp.Or(org.Name, org.Descriptor),
		Effective: in.Effective, Status: stateSubmitted,
	}
	if event, err := j.d.client.Event(ctx, made.ID); err == nil {
		out.Status = eventState(event.Status.Descriptor) // whether it is in effect is only extra; it was submitted
	}
	return out, nil
}

// find finds the change that leads to an organization on a day: the newest event of that
// day that is open or done. One that came to nothing may have been that one or another,
// because a change of job carries no mark of a key.
func (j jobs) find(ctx context.Context, _ domainkit.Call, in JobOrder) (*JobChange, error) {
	w, err := j.d.worker(ctx, in.Worker)
	if err != nil {
		return nil, err
	}
	org, err := organizations(j).find(ctx, in.Organization)
	if err != nil {
		return nil, err
	}
	events, err := requestsOf(ctx, j.d.client, in.Worker, processJob)
	if err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(e rest.Event) bool { return e.Effective != in.Effective })
	if len(events) == 0 {
		return nil, nil //nolint:nilnil // nobody made such a change
	}
	state := eventState(events[0].Status.Descriptor)
	if state == stateSubmitted || state == stateApproved && w.Organization.ID == org.ID {
		return &JobChange{RequestID: events[0].ID, Worker: w.ID, Name: w.Descriptor, To: cmp.Or(org.Name, org.Descriptor), Effective: in.Effective, Status: state}, nil
	}
	return nil, domainkit.ErrUntold
}
