package communication

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// maxMessages bounds the outbox.
const maxMessages = 10_000

// message is one message of the outbox.
type message struct {
	ID      string    `json:"message_id"`
	Channel string    `json:"channel"`
	Title   string    `json:"title,omitempty"`
	Message string    `json:"message"`
	SentAt  time.Time `json:"sent_at"`
	Key     string    `json:"key"`
}

// outbox holds all messages, and stores them in a file if it has one.
type outbox struct {
	file *os.File // nil: in memory

	mu    sync.Mutex // guards the fields below
	items []message
	// end is the position of the next message in the file.
	end int64
	// broken is set if the file is no longer consistent.
	broken error
}

func openOutbox(path string) (*outbox, error) {
	o := &outbox{}
	if path == "" {
		return o, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	o.file = file
	if err := o.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return o, nil
}

// load reads the complete lines. An incomplete last line was never acknowledged and is overwritten
// by the next message.
func (o *outbox) load() error {
	lines := bufio.NewReader(o.file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the outbox: %w", err)
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read message %d of the outbox: %w", len(o.items)+1, err)
		}
		o.items = append(o.items, m)
		o.end += int64(len(line))
	}
	return o.cut()
}

// cut truncates the file after the last message.
func (o *outbox) cut() error {
	if err := o.file.Truncate(o.end); err != nil {
		return fmt.Errorf("cut half a message off the outbox: %w", err)
	}
	if _, err := o.file.Seek(o.end, io.SeekStart); err != nil {
		return fmt.Errorf("find the end of the outbox: %w", err)
	}
	return nil
}

// add sends a message. If it returns no error, the message is on disk.
func (o *outbox) add(m message) (message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		return message{}, o.broken
	}
	if len(o.items) >= maxMessages {
		return message{}, domainkit.Refusef(contracts.ErrPrecondition, "the outbox holds %d messages already", maxMessages)
	}
	m.ID = fmt.Sprintf("m-%d", len(o.items)+1)
	if err := o.write(m); err != nil {
		// A partially written message must not precede the next one.
		o.broken = o.cut()
		return message{}, errors.Join(err, o.broken)
	}
	o.items = append(o.items, m)
	return m, nil
}

// write appends a message to the file. The caller holds mu.
func (o *outbox) write(m message) error {
	if o.file == nil {
		return nil
	}
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode message %s: %w", m.ID, err)
	}
	line = append(line, '\n')
	if _, err := o.file.Write(line); err != nil {
		return fmt.Errorf("write message %s: %w", m.ID, err)
	}
	if err := o.file.Sync(); err != nil {
		return fmt.Errorf("write message %s: %w", m.ID, err)
	}
	o.end += int64(len(line))
	return nil
}

// health returns an error if the outbox is no longer reliable.
func (o *outbox) health() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

func (o *outbox) find(fits func(message) bool) (message, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.items {
		if fits(m) {
			return m, true
		}
	}
	return message{}, false
}

func (o *outbox) byKey(key string) (message, bool) {
	return o.find(func(m message) bool { return m.Key == key })
}

// newest returns the newest messages of a channel, or of all, newest first, and their total number.
func (o *outbox) newest(channel string, limit int) (shown []message, count int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range slices.Backward(o.items) {
		if channel != "" && v.Channel != channel {
			continue
		}
		if count++; count <= limit {
			shown = append(shown, v)
		}
	}
	return shown, count
}

func (o *outbox) close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
