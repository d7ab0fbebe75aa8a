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

// Logins are people's own logins at the tenant; the handler serves the pages that they
// log in by.
type Logins = rest.Logins

// LoginConfig describes how people log in.
type LoginConfig = rest.LoginConfig

// OpenLogins opens the logins of people at the tenant that a configuration names.
func OpenLogins(cfg Config, login LoginConfig) (*Logins, error) {
	return rest.NewLogins(cfg.restConfig(), login)
}

// decisions are what only the person may see and do whose turn it is in Workday. They are
// never made by the integration user: the requester must have logged in at the tenant.
type decisions struct{ d *domain }

// A decision is approved, denied or sent back, as steps of processes are.
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

// decisionSchema wants to be told whose request it is, so that "approve everything" decides
// nothing, and the words that Workday wants: why something is denied or sent back.
func decisionSchema(state string) []byte {
	if state == stateApproved {
		return []byte(`{"required":["worker"]}`)
	}
	return []byte(`{"required":["worker","comment"]}`)
}

// own is the requester, with a client that acts as them.
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

// failed words a failed call that was made as a person.
func (s decisions) failed(me rest.Worker, err error) error {
	if rest.GrantEnded(err) {
		s.d.logins.Forget(me.ID)
		return s.loginNeeded(me, " again")
	}
	return failure(err)
}

// InboxQuery narrows what waits for the requester.
type InboxQuery struct {
	Worker string `json:"worker,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the worker whose requests they are"`
	About  string `json:"about,omitempty" max:"100" description:"Only processes whose name has this text"`
}

// InboxTask is a step that waits for the requester.
type InboxTask struct {
	Value   string `json:"value"`
	Label   string `json:"label"`
	Process string `json:"process"`
	About   string `json:"about,omitempty"`
	Created string `json:"created,omitempty"`
	Due     string `json:"due,omitempty"`
	// Exact means that nothing else waits that fits.
	Exact bool `json:"exact"`
}

// Inbox is what waits for the requester, the oldest first.
type Inbox struct {
	Name  string      `json:"worker_name"`
	Total int         `json:"total"`
	Tasks []InboxTask `json:"tasks"`
}

const mostTasks = 40

// Summary counts them.
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

// inbox lists the steps that wait for the requester.
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

// taskName is the process of a step, and the worker whom it is about.
func taskName(s rest.Step) (process, whose string) {
	process, whose, _ = strings.Cut(cmp.Or(s.Event.Descriptor, s.Process.Descriptor, s.Descriptor), ":")
	return strings.TrimSpace(process), strings.TrimSpace(whose)
}

// taskLabel tells tasks apart.
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

// DecisionOrder is a decision about a step that waits for the requester.
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

// Summary reports what was decided.
func (d Decision) Summary() string {
	text := d.Process
	if d.Name != "" {
		text += " of " + d.Name
	}
	return fmt.Sprintf("%s: %s by %s", text, strings.ReplaceAll(d.Decision, "_", " "), d.By)
}

// deciding makes the write of one kind of decision.
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

// sendBack sends a step back to whoever began, or to the only one to whom it can go. Whom
// the gate did not show is not chosen among several.
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

// finding looks for a decision: by the mark of its key or, where Workday shows no comments,
// as the very decision of the same person.
func (s decisions) finding(state string) func(context.Context, domainkit.Call, DecisionOrder) (*Decision, error) {
	return func(ctx context.Context, call domainkit.Call, in DecisionOrder) (*Decision, error) {
		me, client, err := s.own(ctx, call.Principal)
		if err != nil {
			return nil, err
		}
		step, err := rest.NewSteps(client).Step(ctx, in.Task)
		if rest.IsKind(err, rest.KindNotFound) {
			return nil, domainkit.ErrOutcomeUnknown // a step that is done may not be shown any more
		}
		if err != nil {
			return nil, s.failed(me, err)
		}
		return decided(step, call.IdempotencyKey, me.ID, state), nil
	}
}

// decided reads a decision from a step, nil when it is not this one.
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
		return nil // the same decision, but not by this call
	}
	return &out
}

// stepState words the status of a step.
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
