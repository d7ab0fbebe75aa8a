package execution

import (
	"sync"

	"github.com/manifold-run/manifold/execution/admission"
)

// inbox passes messages to the one goroutine that owns a run. put never blocks, also after the
// owner has ended.
type inbox struct {
	// notify holds a token while there are messages.
	notify chan struct{}

	mu sync.Mutex // guards the fields below
	// messages are taken all at once, in order of arrival. before is the slice of the last take;
	// its memory is reused by the next one.
	messages, before []message
}

// message is the completion of an exchange, or a wake-up.
type message struct {
	kind messageKind
	done completion
	// key is the limit that has a free slot.
	key admission.Key
}

type messageKind int

const (
	msgReply messageKind = iota // an exchange has ended
	msgWake                     // something was written for the run
	msgFreed                    // a limit that the run waits for has a free slot
	msgLost                     // the lease is lost
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

// take returns the messages. The slice is valid until the next call.
func (b *inbox) take() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.messages
	clear(b.before)
	b.messages, b.before = b.before[:0], taken
	return taken
}
