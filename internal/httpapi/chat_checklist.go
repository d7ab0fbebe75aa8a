package httpapi

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// taskList is the checklist that Open WebUI shows above its input while an item is open.
type taskList struct {
	Tasks []taskItem `json:"tasks"`
}

type taskItem struct {
	ID      string     `json:"id"`
	Content string     `json:"content"`
	Status  taskStatus `json:"status"`
}

type taskStatus string

const (
	taskPending    taskStatus = "pending"
	taskInProgress taskStatus = "in_progress"
	taskCompleted  taskStatus = "completed"
	taskCancelled  taskStatus = "cancelled"
)

// maxTasks bounds the steps of a checklist: people do not read longer ones, and the event stays
// short.
const maxTasks = 100

// checklist returns the steps of a run as a checklist. It reports false for fewer than two steps.
func checklist(steps []orchestrator.Step) ([]taskItem, bool) {
	if len(steps) < 2 || len(steps) > maxTasks {
		return nil, false
	}
	out := make([]taskItem, len(steps))
	for n, s := range steps {
		out[n] = taskItem{ID: s.ID, Content: cutText(s.Title, 120), Status: taskState(s.State)}
	}
	return out, true
}

func taskState(s contracts.NodeState) taskStatus {
	switch s {
	case contracts.NodeCompleted:
		return taskCompleted
	case contracts.NodeFailed, contracts.NodeSkipped, contracts.NodeRejected, contracts.NodeCancelled:
		return taskCancelled
	case contracts.NodeRunning, contracts.NodeOutcomeUnknown:
		return taskInProgress
	case contracts.NodePending, contracts.NodeReady, contracts.NodeQueued, contracts.NodeAwaitingApproval, contracts.NodeAwaitingInput, contracts.NodeBlocked:
	}
	return taskPending
}

// steps sends the checklist if it has changed: at most once a second, but always at the end of the
// answer, to close the items of earlier answers. It reports whether an update was held back.
func (c *chatStream) steps(steps []orchestrator.Step, last bool) (held bool) {
	tasks, ok := checklist(steps)
	if !c.rich || !ok || slices.Equal(tasks, c.tasks) {
		return false
	}
	if !last && c.now().Sub(c.listed) < statusEvery {
		return true
	}
	c.event("chat:message:tasks", taskList{tasks})
	c.tasks, c.listed = tasks, c.now()
	return false
}
