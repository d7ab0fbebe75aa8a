package httpapi

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// taskList is the checklist that Open WebUI shows above its input while
// something on it is open.
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

// maxTasks is how many steps somebody reads as a list; it also keeps the line
// short.
const maxTasks = 100

// checklist writes the steps of a run as Open WebUI's checklist; a single step
// is none.
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

// steps sends the checklist when it has changed: at most once a second, but
// always where the answer ends: it closes what an earlier answer left open.
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
