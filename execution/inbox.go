package execution

import (
	"sync"

	"github.com/manifold-run/manifold/execution/admission"
)

// inbox is how the world talks to the one goroutine that owns a run. Putting
// never blocks: an owner that has left leaves nobody hanging.
type inbox struct {
	// notify holds a token while there is something to take.
	notify chan struct{}

	mu sync.Mutex // guards the fields below
	// messages are taken all at once, in order of arrival; those of before give
	// their memory to the next but one.
	messages, before []message
}

// message is a completion of an exchange, or a plain nudge.
type message struct {
	kind messageKind
	done completion
	// key is the limit that was freed.
	key admission.Key
}

type messageKind int

const (
	msgReply messageKind = iota // an exchange has ended
	msgWake                     // something was written for the run
	msgFreed                    // a limit that the run waits for has room
	msgLost                     // the lease is gone
)

func newInbox() *inbox { return &inbox{notify: make(chan struct{}, 1)} }

func (b *inbox) put(m message) {
	b.mu.Lock()
	b.messages = append(b.messages, m)
	b.mu.Unlock()
	select {
	case b.notify <- struct{}{}:
	default:
	}
}

// take returns the messages, which are the inbox's again when it is taken from the next
// time.
func (b *inbox) take() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.messages
	clear(b.before)
	b.messages, b.before = b.before[:0], taken
	return taken
}
