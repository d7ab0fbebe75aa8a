package execution

import (
	"container/heap"
	"time"

	"github.com/manifold-run/manifold/execution/admission"
)

// timer is when a node is to be looked at, or the nodes that wait for the key;
// with neither it is the run itself.
type timer struct {
	at   time.Time
	node *node
	key  admission.Key
}

// timers orders timers by time. They are never removed: a node that moved on is
// simply not interested any more.
type timers struct{ items timerItems }

func (h *timers) add(t timer) { heap.Push(&h.items, t) }

// next is the time of the first timer that still matters, zero if there is none.
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

// Pop removes the last; container/heap calls it.
func (h *timerItems) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
