package execution

import (
	"container/heap"
	"time"

	"github.com/manifold-run/manifold/execution/admission"
)

// timer is the time at which a node, or the nodes that wait for the key, are to be checked. With
// neither it is a timer of the run.
type timer struct {
	at   time.Time
	node *node
	key  admission.Key
}

// timers orders timers by time. They are not removed early: timers of nodes that no longer wait are
// ignored.
type timers struct{ items timerItems }

func (h *timers) add(t timer) { heap.Push(&h.items, t) }

// next returns the time of the first timer that is not obsolete, zero if there is none.
func (h *timers) next() time.Time {
	for len(h.items) > 0 {
		if t := h.items[0]; t.node == nil || t.node.IsWaiting() {
			return t.at
		}
		heap.Pop(&h.items)
	}
	return time.Time{}
}

func (h *timers) due(now time.Time) (timer, bool) {
	if at := h.next(); at.IsZero() || at.After(now) {
		return timer{}, false
	}
	t, ok := heap.Pop(&h.items).(timer)
	return t, ok
}

type timerItems []timer

func (h timerItems) Len() int           { return len(h) }
func (h timerItems) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerItems) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a timer; container/heap calls it.
func (h *timerItems) Push(x any) {
	if t, ok := x.(timer); ok {
		*h = append(*h, t)
	}
}

// Pop removes the last one; container/heap calls it.
func (h *timerItems) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
