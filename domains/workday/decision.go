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

// Logins are the logins of individual people at the tenant. Its handler serves the login pages.
type Logins = rest.Logins

// LoginConfig configures how people log in.
type LoginConfig = rest.LoginConfig

// OpenLogins opens the logins of people at the tenant of cfg.
func OpenLogins(cfg Config, login LoginConfig) (*Logins, error) {
	return rest.NewLogins(cfg.restConfig(), login)
}

// decisions are the capabilities for steps that await the requester in Workday. They are never
// called as the integration user: the requester must have logged in at the tenant.
type decisions struct{ d *domain }

// stateSentBack is the third outcome of a step, besides approved and denied.
const stateSentBack = "sent_back"

func (s decisions) register(svc *domainkit.Service) error {
	errs := []error{domainkit.Add(svc, domainkit.Capability{Name: "list_inbox_tasks"}, s.inbox)}
	for _, c := range [...]struct{ name, state string }{{"approve_step", stateApproved}, {"deny_step", stateDenied}, {"send_back_step", stateSentBack}} {
		errs = append(errs, domainkit.AddWrite(svc, domainkit.Capability{
			Name: c.name, Schema: decisionSchema(c.state), Metadata: verified(equal("facts.task", "${params.task}"), equal("facts.decision", c.state)),
		}, s.deciding(c.state), s.finding(c.state)))
	}
	return errors.Join(errs...)
}

// decisionSchema requires the worker of the request, so that "approve everything" decides nothing,
// and the comment that Workday requires to deny or send back.
func decisionSchema(state string) []byte {
	if state == stateApproved {
		return []byte(`{"required":["worker"]}`)
	}
	return []byte(`{"required":["worker","comment"]}`)
}

// own returns the requester's worker and a client that acts as the requester.
func (s decisions) own(ctx context.Context, asker contracts.Principal) (rest.Worker, *rest.Client, error) {
	me, err := myself(ctx, s.d, asker)
	if err != nil {
		return me, nil, err
	}
	if s.d.logins == nil {
		return me, nil, domainkit.Refusef(contracts.ErrPrecondition, "only %s may see and decide this in Workday, and people cannot log in at Workday by this service (--logins); do it in Workday", me.Descriptor)
	}
	client, err := s.d.logins.Client(ctx, me.ID)
	if err == nil && client == nil {
		err = s.loginNeeded(me, "")
	}
	return me, client, err
}

func (s decisions) loginNeeded(me rest.Worker, again string) error {
	return domainkit.Refusef(contracts.ErrPrecondition, "only %s may see and decide this in Workday: log in%s there with your own account at %s and ask again", me.Descriptor, again, s.d.logins.Link())
}

// failed converts the error of a call that was made as a person.
func (s decisions) failed(me rest.Worker, err error) error {
	if rest.GrantEnded(err) {
		s.d.logins.Forget(me.ID)
		return s.loginNeeded(me, " again")
	}
	return failure(err)
}

// InboxQuery are the parameters of list_inbox_tasks.
type InboxQuery struct {
	Worker string `json:"worker,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the worker whose requests they are"`
	About  string `json:"about,omitempty" max:"100" description:"Only processes whose name has this text"`
}

// InboxTask is a step that awaits the requester.
type InboxTask struct {
	Value   string `json:"value"`
	Label   string `json:"label"`
	Process string `json:"process"`
	About   string `json:"about,omitempty"`
	Created string `json:"created,omitempty"`
	Due     string `json:"due,omitempty"`
	// Exact means that it is the only step that matches.
	Exact bool `json:"exact"`
}

// Inbox lists the steps that await the requester, oldest first.
type Inbox struct {
	Name  string      `json:"worker_name"`
	Total int         `json:"total"`
	Tasks []InboxTask `json:"tasks"`
}

const mostTasks = 40

// Summary reports the number of steps.
func (i Inbox) Summary() string {
	if i.Total == 0 {
		return "nothing like that waits for " + i.Name + " in Workday"
	}
	text := fmt.Sprintf("%s for %s: %s", amount(float64(i.Total), "tasks"), i.Name, i.Tasks[0].Label)
	if i.Total > 1 {
		text += ", …"
	}
	return text
}

// inbox lists the steps that await the requester.
func (s decisions) inbox(ctx context.Context, call domainkit.Call, in InboxQuery) (Inbox, error) {
	me, client, err := s.own(ctx, call.Principal)
	if err != nil {
		return Inbox{}, err
	}
	steps, err := rest.NewSteps(client).Awaited(ctx)
	if err != nil {
		return Inbox{}, s.failed(me, err)
	}
	about := map[string]bool{}
	if in.Worker != "" {
		events, err := client.Events(ctx, in.Worker)
		if err != nil && !rest.IsKind(err, rest.KindNotFound) {
			return Inbox{}, s.failed(me, err)
		}
		for _, e := range events {
			about[e.ID] = true
		}
	}
	slices.SortStableFunc(steps, func(a, b rest.Step) int { return strings.Compare(a.Created, b.Created) })
	out := Inbox{Name: me.Descriptor, Tasks: []InboxTask{}}
	for _, step := range steps {
		mine := slices.ContainsFunc(step.Awaiting, func(p rest.Ref) bool { return p.ID == me.ID })
		process, whose := taskName(step)
		if !mine || in.Worker != "" && !about[step.Event.ID] || !strings.Contains(fold(process), fold(in.About)) {
			continue
		}
		if out.Total++; out.Total <= mostTasks {
			out.Tasks = append(out.Tasks, InboxTask{Value: step.ID, Label: taskLabel(step), Process: process, About: whose, Created: day(step.Created), Due: day(step.Due)})
		}
	}
	if out.Total == 1 {
		out.Tasks[0].Exact = true
	}
	return out, nil
}

// taskName returns the process of a step and the worker that it is about.
func taskName(s rest.Step) (process, whose string) {
	process, whose, _ = strings.Cut(cmp.Or(s.Event.Descriptor, s.Process.Descriptor, s.Descriptor), ":")
	return strings.TrimSpace(process), strings.TrimSpace(whose)
}

// taskLabel returns a label that distinguishes steps.
func taskLabel(s rest.Step) string {
	process, whose := taskName(s)
	text := process
	if whose != "" {
		text += " of " + whose
	}
	if s.Created != "" {
		text += ", since " + day(s.Created)
	}
	return text
}

// DecisionOrder are the parameters of a decision about a step that awaits the requester.
type DecisionOrder struct {
	Worker  string `json:"worker,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the worker whose request it is"`
	About   string `json:"about,omitempty" max:"100" description:"Which process, by a part of its name"`
	Task    string `json:"task,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the step, as list_inbox_tasks gives it; looked up by the worker where it is not given"`
	Comment string `json:"comment,omitempty" max:"500" description:"What is said with it"`
}

// Decision is the outcome of a step.
type Decision struct {
	Task     string `json:"task"`
	Process  string `json:"process"`
	Name     string `json:"worker_name,omitempty"`
	Decision string `json:"decision"`
	By       string `json:"decided_by"`
	Comment  string `json:"comment,omitempty"`
}

// Summary reports the decision.
func (d Decision) Summary() string {
	text := d.Process
	if d.Name != "" {
		text += " of " + d.Name
	}
	return fmt.Sprintf("%s: %s by %s", text, strings.ReplaceAll(d.Decision, "_", " "), d.By)
}

// deciding returns the write of one kind of decision.
func (s decisions) deciding(state string) handler[DecisionOrder, Decision] {
	return func(ctx context.Context, call domainkit.Call, in DecisionOrder) (Decision, error) {
		me, client, err := s.own(ctx, call.Principal)
		if err != nil {
			return Decision{}, err
		}
		if in.Task == "" {
			return Decision{}, domainkit.Refusef(contracts.ErrInvalidParameters, "which request is decided is missing (task)")
		}
		step, err := rest.NewSteps(client).Step(ctx, in.Task)
		if rest.IsKind(err, rest.KindNotFound) {
			return Decision{}, domainkit.Refusef(contracts.ErrNotFound, "Workday shows %s no such task", me.Descriptor)
		}
		if err != nil {
			return Decision{}, s.failed(me, err)
		}
		if done := decided(step, call.IdempotencyKey, me.ID, state); done != nil {
			return *done, nil
		}
		if !slices.ContainsFunc(step.Awaiting, func(p rest.Ref) bool { return p.ID == me.ID }) {
			return Decision{}, domainkit.Refusef(contracts.ErrPrecondition, "%s does not wait for %s in Workday", taskLabel(step), me.Descriptor)
		}
		said := mark(in.Comment, call.IdempotencyKey)
		switch state {
		case stateApproved:
			err = rest.NewSteps(client).Approve(ctx, step.ID, said)
		case stateDenied:
			err = rest.NewSteps(client).Deny(ctx, step.ID, said)
		default:
			err = s.sendBack(ctx, client, step, said)
		}
		if err != nil {
			return Decision{}, s.failed(me, err)
		}
		process, whose := taskName(step)
		return Decision{Task: step.ID, Process: process, Name: whose, Decision: state, By: me.Descriptor, Comment: in.Comment}, nil
	}
}

// sendBack sends a step back to its initiator, or to the only possible target. It does not choose
// among several: the gate did not show one.
func (s decisions) sendBack(ctx context.Context, client *rest.Client, step rest.Step, reason string) error {
	targets, err := rest.NewSteps(client).Targets(ctx, step.ID)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return domainkit.Refusef(contracts.ErrPrecondition, "Workday lets nobody send %s back; deny it instead", taskLabel(step))
	}
	event, err := client.Event(ctx, step.Event.ID)
	if err != nil {
		return err
	}
	to := slices.IndexFunc(targets, func(r rest.Ref) bool { return r.ID == event.Initiator.ID })
	if to < 0 && len(targets) > 1 {
		return domainkit.Refusef(contracts.ErrPrecondition, "%s can be sent back to several people, and to none who began it; choose in Workday", taskLabel(step))
	}
	return rest.NewSteps(client).SendBack(ctx, step.ID, targets[max(to, 0)].ID, reason)
}

// finding returns the find function of a decision. It identifies a decision by the marker of its
// key or, if Workday shows no comments, by the same person and outcome.
func (s decisions) finding(state string) func(context.Context, domainkit.Call, DecisionOrder) (*Decision, error) {
	return func(ctx context.Context, call domainkit.Call, in DecisionOrder) (*Decision, error) {
		me, client, err := s.own(ctx, call.Principal)
		if err != nil {
			return nil, err
		}
		step, err := rest.NewSteps(client).Step(ctx, in.Task)
		if rest.IsKind(err, rest.KindNotFound) {
			return nil, domainkit.ErrOutcomeUnknown // a completed step may no longer be visible
		}
		if err != nil {
			return nil, s.failed(me, err)
		}
		return decided(step, call.IdempotencyKey, me.ID, state), nil
	}
}

// decided returns the decision of a step, or nil if it is not the one of this key.
func decided(step rest.Step, key, me, state string) *Decision {
	if stepState(step) != state || step.DoneBy.ID != me {
		return nil
	}
	out := Decision{Task: step.ID, Decision: state, By: step.DoneBy.Descriptor}
	out.Process, out.Name = taskName(step)
	for _, c := range step.Comments {
		if text, _, marked := strings.Cut(c.Comment, "["+marker(key)); marked {
			out.Comment = strings.TrimSpace(text)
			return &out
		}
	}
	if len(step.Comments) > 0 {
		return nil // the same outcome, but not by this call
	}
	return &out
}

// stepState converts the status of a step.
func stepState(s rest.Step) string {
	switch fold(s.Status.Descriptor) {
	case "completed", "approved":
		return stateApproved
	case "denied":
		return stateDenied
	case "sent back":
		return stateSentBack
	case "awaiting action", "in progress":
		return stateSubmitted
	}
	return stateOther
}
