package workday

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// JobOrder are the parameters of change_job and plan_job_change.
type JobOrder struct {
	Someone
	Organization string `json:"organization" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the organization to which the worker moves"`
	Effective    string `json:"effective" format:"date" description:"First day in the new organization"`
	Reason       string `json:"reason" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the reason for the change of job"`
	MoveTeam     bool   `json:"move_team" default:"false" description:"Whether those who report to the worker move too"`
	Plan         string `json:"plan,omitempty" max:"50" pattern:"^from:.+$" description:"From where the worker moves, as plan_job_change gives it; from elsewhere nobody is moved"`
}

// JobChange is a submitted change of job.
type JobChange struct {
	RequestID string `json:"request_id"`
	Worker    string `json:"worker"`
	Name      string `json:"worker_name"`
	From      string `json:"previous_organization,omitempty"`
	To        string `json:"organization"`
	Effective string `json:"effective"`
	Status    string `json:"status"`
}

// Summary reports the move and its status.
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

// jobs are the capabilities for changes of job.
type jobs struct{ d *domain }

// processJob is the prefix of the event names of such changes.
const processJob = "Change Job"

func (j jobs) register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "list_job_change_reasons"}, withEmployee(j.d, j.reasons)),
		domainkit.Add(svc, domainkit.Capability{Name: "plan_job_change"}, withManager(j.d, j.plan)),
		domainkit.AddWrite(svc, domainkit.Capability{Name: "change_job", Unmarked: true, Metadata: verified(
			equal("facts.effective", "${params.effective}"), contracts.Condition{Path: "facts.status", In: []any{stateSubmitted, stateApproved}},
		)}, withManager(j.d, j.change), withManager(j.d, j.find)),
	)
}

// ReasonMatch is a reason that a search found.
type ReasonMatch struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Reasons are the possible reasons for a change of job.
type Reasons struct {
	Total   int           `json:"total"`
	Reasons []ReasonMatch `json:"reasons"`
}

// Summary lists their names.
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
	var out Reasons
	out.Total, out.Reasons, err = listed(all, mostReasons, in.fits, func(r rest.Ref) (ReasonMatch, error) { return ReasonMatch{r.ID, r.Descriptor}, nil })
	return out, err
}

// jobPlan is a change of job that was validated but not submitted.
type jobPlan struct {
	worker rest.Worker
	org    rest.Organization
	reason string
}

// from is the value by which change detects that the worker was moved meanwhile.
func (p jobPlan) from() string { return "from:" + cmp.Or(p.worker.Organization.ID, "nowhere") }

func (p jobPlan) to() string { return cmp.Or(p.org.Name, p.org.Descriptor) }

// JobPlan is the outcome of planning a change of job. An impossible change is refused, so that
// nobody is asked to approve it.
type JobPlan struct {
	Worker string `json:"worker"`
	Name   string `json:"worker_name"`
	// Matches holds the plan as the only choice.
	Matches []PlanChoice `json:"matches"`
}

// Summary describes the plan.
func (p JobPlan) Summary() string { return p.Matches[0].Label }

// plan validates a change of job without submitting it.
func (j jobs) plan(ctx context.Context, _ domainkit.Call, in JobOrder) (JobPlan, error) {
	p, err := j.think(ctx, in)
	if err != nil {
		return JobPlan{}, err
	}
	label := "to " + p.to()
	if p.worker.Organization.Descriptor != "" {
		label = "from " + p.worker.Organization.Descriptor + " " + label
	}
	label += " on " + spoken(in.Effective) + ", for the reason " + p.reason
	if in.MoveTeam {
		label += ", with those who report to " + p.worker.Descriptor
	}
	return JobPlan{p.worker.ID, p.worker.Descriptor, []PlanChoice{{p.from(), label}}}, nil
}

// farthestMove bounds how far from today a change may be; beyond it, the year is probably a typo.
const farthestMove = 2 * 365 * 24 * time.Hour

// think reads the objects of a change of job and refuses an impossible one.
func (j jobs) think(ctx context.Context, in JobOrder) (p jobPlan, err error) {
	if p.worker, err = j.d.worker(ctx, in.Worker); err != nil {
		return p, err
	}
	if p.org, err = organizations(j).find(ctx, in.Organization); err != nil {
		return p, err
	}
	switch {
	case p.worker.Organization.ID == p.org.ID:
		return p, domainkit.Refusef(contracts.ErrPrecondition, "%s is in %s already", p.worker.Descriptor, p.to())
	case p.worker.ID == p.org.Manager.ID:
		return p, domainkit.Refusef(contracts.ErrPrecondition, "%s leads %s, and nobody reports to themselves", p.worker.Descriptor, p.to())
	}
	effective, err := time.ParseInLocation(time.DateOnly, in.Effective, j.d.zone)
	if away := effective.Sub(j.d.today()); err != nil || away.Abs() > farthestMove {
		return p, domainkit.Refusef(contracts.ErrPrecondition, "%s is no day for a change of job: it is more than two years away", in.Effective)
	}
	if p.reason, err = j.reason(ctx, in.Reason); err != nil {
		return p, err
	}
	events, err := requestsOf(ctx, j.d.client, in.Worker, processJob)
	if i := slices.IndexFunc(events, func(e rest.Event) bool { return eventState(e.Status.Descriptor) == stateSubmitted }); err == nil && i >= 0 {
		return p, domainkit.Refusef(contracts.ErrPrecondition, "a change of job of %s on %s waits in Workday already; it must end first", p.worker.Descriptor, events[i].Effective)
	}
	return p, err
}

// reason returns the name of a reason by its id.
func (j jobs) reason(ctx context.Context, id string) (string, error) {
	all, err := rest.NewCompany(j.d.client).JobChangeReasons(ctx)
	if err != nil {
		return "", failure(err)
	}
	names := make([]string, 0, len(all))
	for _, r := range all {
		if r.ID == id {
			return r.Descriptor, nil
		}
		names = append(names, r.Descriptor)
	}
	return "", domainkit.Refusef(contracts.ErrPrecondition, "Workday has no such reason for a change of job; it has: %s", strings.Join(names, ", "))
}

// change submits a change of job. Its approval in Workday can be followed with follow_request.
func (j jobs) change(ctx context.Context, _ domainkit.Call, in JobOrder) (JobChange, error) {
	p, err := j.think(ctx, in)
	if err != nil {
		return JobChange{}, err
	}
	if in.Plan != "" && in.Plan != p.from() {
		return JobChange{}, domainkit.Refusef(errPlanChanged, "%s has been moved to %s since that was shown", p.worker.Descriptor, p.worker.Organization.Descriptor)
	}
	w := p.worker
	made, err := rest.NewCompany(j.d.client).ChangeJob(ctx, w.ID, rest.JobChange{
		Organization: rest.Ref{ID: p.org.ID}, Reason: rest.Ref{ID: in.Reason}, Effective: in.Effective, MoveTeam: in.MoveTeam,
	})
	if err != nil {
		return JobChange{}, failure(err)
	}
	out := JobChange{
		RequestID: made.ID, Worker: w.ID, Name: w.Descriptor, From: w.Organization.Descriptor, To: p.to(),
		Effective: in.Effective, Status: stateSubmitted,
	}
	if event, err := j.d.client.Event(ctx, made.ID); err == nil {
		out.Status = eventState(event.Status.Descriptor) // the change was submitted; the status is optional
	}
	return out, nil
}

// find looks at the newest Change Job event of that effective day. It counts as this change if it
// is open, or if it is approved and the worker is in the organization. Otherwise the outcome is
// unknown, because a change of job carries no marker of the key. The destination of an open event
// is not checked.
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
	return nil, domainkit.ErrOutcomeUnknown
}
