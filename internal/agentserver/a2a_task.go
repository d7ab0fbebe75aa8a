package agentserver

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// a2aTasks implements the methods of the protocol. The library parses and formats the messages.
type a2aTasks struct {
	noStreams

	wait time.Duration
	card func(base string, skills []a2a.AgentSkill) *a2a.AgentCard
}

var _ a2asrv.RequestHandler = (*a2aTasks)(nil)

func a2aClient(ctx context.Context) *client.Client {
	api, _ := ctx.Value(a2aCaller{}).(*client.Client) // set by admitted
	return api
}

// SendMessage starts a session, or continues the one of the task or context that the message names.
func (t *a2aTasks) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if req.Message == nil {
		return nil, a2a.NewError(a2a.ErrInvalidParams, "there is no message")
	}
	words, err := wordsOf(req.Message)
	if err != nil {
		return nil, err
	}
	id := req.Message.ContextID
	if task := string(req.Message.TaskID); task != "" {
		if id != "" && id != task {
			return nil, a2a.NewError(a2a.ErrInvalidParams, "the task is not one of this context")
		}
		id = task
	}
	wait := t.wait
	if req.Config != nil && req.Config.ReturnImmediately {
		wait = min(wait, startWait)
	}
	api, opt := a2aClient(ctx), client.Opt{Wait: wait}
	if req.Message.ID != "" { // a message that is sent again has no second effect
		opt.IdempotencyKey = "a2a-" + contracts.HashBytes([]byte(req.Message.ID))
	}
	var response contracts.SessionResponse
	var decided bool
	if id != "" {
		decided, err = decides(ctx, api, id, words)
	}
	switch {
	case err != nil:
	case decided: // an agent must not decide gates
		response, err = api.Session(ctx, id, client.Opt{})
	case id == "":
		response, err = api.StartSession(ctx, contracts.StartSession{Message: words}, opt)
	default:
		response, err = api.Say(ctx, id, words, opt)
	}
	if err != nil {
		return nil, a2aError(err)
	}
	return taskOf(ctx, api, response)
}

// wordsOf returns the text of a message; other content is rejected.
func wordsOf(m *a2a.Message) (string, error) {
	var texts []string
	for _, p := range m.Parts {
		text, ok := p.Content.(a2a.Text)
		if !ok {
			return "", a2a.NewError(a2a.ErrUnsupportedContentType, "only text is understood")
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "\n"), nil
}

// GetTask returns the state of a session as a task.
func (t *a2aTasks) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	api := a2aClient(ctx)
	response, err := api.Session(ctx, string(req.ID), client.Opt{})
	if err != nil {
		return nil, a2aError(err)
	}
	return taskOf(ctx, api, response)
}

// CancelTask cancels the run of a session.
func (t *a2aTasks) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	api := a2aClient(ctx)
	response, err := api.Session(ctx, string(req.ID), client.Opt{})
	if err != nil {
		return nil, a2aError(err)
	}
	view, err := lastRun(ctx, api, response)
	switch {
	case err != nil:
		return nil, a2aError(err)
	case view.RunID == "" || view.State.Terminal():
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "nothing is going on in it")
	}
	if _, err := api.CancelRun(ctx, view.RunID); err != nil {
		return nil, a2aError(err)
	}
	return t.GetTask(ctx, &a2a.GetTaskRequest{ID: req.ID})
}

// GetExtendedAgentCard returns a card with the skills of the caller.
func (t *a2aTasks) GetExtendedAgentCard(ctx context.Context, _ *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	all, err := skills(ctx, a2aClient(ctx))
	if err != nil {
		return nil, a2aError(err)
	}
	base, _ := ctx.Value(a2aURL{}).(string)
	return t.card(base, all), nil
}

// lastRun returns the latest run of a session, or a view without an id if there is none.
func lastRun(ctx context.Context, api *client.Client, r contracts.SessionResponse) (contracts.RunView, error) {
	if len(r.RunIDs) == 0 {
		return contracts.RunView{}, nil
	}
	return api.Run(ctx, r.RunIDs[len(r.RunIDs)-1], client.Opt{})
}

// taskOf returns a session as a task: open interrupts as its message, the answer as an artifact.
func taskOf(ctx context.Context, api *client.Client, r contracts.SessionResponse) (*a2a.Task, error) {
	view, err := lastRun(ctx, api, r)
	if err != nil {
		return nil, a2aError(err)
	}
	task := &a2a.Task{ID: a2a.TaskID(r.SessionID), ContextID: r.SessionID, Metadata: map[string]any{}}
	task.Status.State = a2aState(r, view)
	if !r.UpdatedAt.IsZero() {
		task.Status.Timestamp = &r.UpdatedAt
	}
	if view.RunID != "" {
		task.Metadata["run_id"] = view.RunID
	}
	if codes := gates(r.Interrupts); len(codes) > 0 {
		task.Metadata["gates"] = codes
	}
	switch {
	case len(r.Interrupts) > 0:
		says(task, strings.Join(questions(r.Interrupts, "Answer it by a message to this task."), "\n\n"))
	case task.Status.State.Terminal():
		task.Artifacts = artifactsOf(r, view)
	}
	return task, nil
}

// artifactsOf returns the answer to the last message, and the result of the last run, which may
// belong to an earlier message.
func artifactsOf(r contracts.SessionResponse, view contracts.RunView) []*a2a.Artifact {
	var out []*a2a.Artifact
	add := func(name string, part *a2a.Part) {
		out = append(out, &a2a.Artifact{ID: a2a.ArtifactID(name), Name: name, Parts: a2a.ContentParts{part}})
	}
	answer := chat.Render(r.Answer)
	if answer != "" {
		add("answer", a2a.NewTextPart(answer))
	}
	if result := chat.Render(view.Answer); result != "" && result != answer {
		add("result", a2a.NewTextPart(result))
	}
	if facts := factsOf(view); len(facts) > 0 {
		add("facts", a2a.NewDataPart(facts))
	}
	return out
}

func says(task *a2a.Task, text string) {
	task.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, task, a2a.NewTextPart(text))
}

// a2aState returns the task state of a session. A gate is decided outside of the protocol, hence
// "authentication required"; a question is answered within it.
func a2aState(r contracts.SessionResponse, view contracts.RunView) a2a.TaskState {
	switch {
	case len(gates(r.Interrupts)) > 0:
		return a2a.TaskStateAuthRequired
	case len(r.Interrupts) > 0:
		return a2a.TaskStateInputRequired
	case r.Status == contracts.SessionRunning:
		return a2a.TaskStateWorking
	case r.Status == contracts.SessionError, view.State == contracts.RunFailed:
		return a2a.TaskStateFailed
	case view.State == contracts.RunCancelled:
		return a2a.TaskStateCanceled
	}
	return a2a.TaskStateCompleted
}

// a2aError converts an error of the API to one of the protocol.
func a2aError(err error) error {
	kind := map[contracts.Code]error{
		contracts.CodeNotFound: a2a.ErrTaskNotFound, contracts.CodeInvalid: a2a.ErrInvalidParams, contracts.CodeTooLarge: a2a.ErrInvalidParams,
		contracts.CodeUnauthorized: a2a.ErrUnauthenticated, contracts.CodeForbidden: a2a.ErrUnauthorized, contracts.CodeConflict: a2a.ErrUnsupportedOperation,
	}[contracts.CodeOf(err)]
	if kind == nil {
		kind = a2a.ErrServerError
	}
	return a2a.NewError(kind, messageOf(err))
}

// noStreams rejects the methods that the card does not offer: streams, lists of tasks, and push
// notifications.
type noStreams struct{}

func noStream(yield func(a2a.Event, error) bool) { yield(nil, a2a.ErrUnsupportedOperation) }

// ListTasks is not offered.
func (noStreams) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.ErrUnsupportedOperation
}

// SubscribeToTask is not offered.
func (noStreams) SubscribeToTask(context.Context, *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return noStream
}

// SendStreamingMessage is not offered.
func (noStreams) SendStreamingMessage(context.Context, *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return noStream
}

// GetTaskPushConfig is not offered.
func (noStreams) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// ListTaskPushConfigs is not offered.
func (noStreams) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// CreateTaskPushConfig is not offered.
func (noStreams) CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// DeleteTaskPushConfig is not offered.
func (noStreams) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return a2a.ErrPushNotificationNotSupported
}
