package httpapi

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// writePatience bounds one write: a client that reads nothing for that long is considered gone.
const writePatience = 30 * time.Second

// sse writes server-sent events. After an error it writes nothing more.
type sse struct {
	w       http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	opened  bool
	last    time.Time
	err     error
}

func newSSE(w http.ResponseWriter, now func() time.Time) *sse {
	return &sse{w: w, control: http.NewResponseController(w), now: now}
}

// open sends the headers.
func (s *sse) open() {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would buffer the stream
	s.w.WriteHeader(http.StatusOK)
	s.opened, s.last = true, s.now()
}

// data sends one event without a name.
func (s *sse) data(body []byte) { s.write([]byte("data: "), body, []byte("\n\n")) }

// notice sends an event of the server's own, which has no id.
func (s *sse) notice(name string, body []byte) { s.write(frame(0, name, body)) }

// frame formats one event, with its id and name unless they are empty.
func frame(id int64, name string, body []byte) []byte {
	var out bytes.Buffer
	if id > 0 {
		out.WriteString("id: " + strconv.FormatInt(id, 10) + "\n")
	}
	if name != "" {
		out.WriteString("event: " + name + "\n")
	}
	out.WriteString("data: ")
	out.Write(body)
	out.WriteString("\n\n")
	return out.Bytes()
}

// comment sends a comment, which clients ignore.
func (s *sse) comment(text string) { s.write([]byte(": " + text + "\n\n")) }

// keepAlive sends a comment if nothing was sent for that long.
func (s *sse) keepAlive(every time.Duration) {
	if s.now().Sub(s.last) >= every {
		s.comment("keep-alive")
	}
}

// write sends its parts in one system call.
func (s *sse) write(parts ...[]byte) {
	if s.err != nil || len(parts) == 0 {
		return
	}
	// A deadline for the whole response would cut the stream; each write has its own.
	_ = s.control.SetWriteDeadline(time.Now().Add(writePatience)) // without support there is none
	_, s.err = s.w.Write(bytes.Join(parts, nil))
	if s.err == nil {
		s.err = s.control.Flush()
	}
	s.last = s.now()
}
