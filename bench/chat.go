package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// moments has the times from the request to the first of each kind of response; zero if there was
// none.
type moments struct{ first, status, content, total time.Duration }

// talker is one way to send the same request.
type talker struct {
	name string
	ask  func(ctx context.Context, words string) (moments, error)
}

// chats measures what the chat adds to a run: the same sentence, sent by each talker in turn.
func chats(ctx context.Context, p *page, dir string, e effort) error {
	w, err := startWhole(ctx, dir)
	if err != nil {
		return err
	}
	echo := httptest.NewServer(http.HandlerFunc(echoes))
	defer echo.Close()
	return errors.Join(chatTables(ctx, p, w, echo.URL, e), closing(ctx, w.close))
}

func chatTables(ctx context.Context, p *page, w *whole, echo string, e effort) error {
	talkers := []talker{
		{"chat, streamed", func(ctx context.Context, words string) (moments, error) { return w.chat(ctx, w.app.URL(), words, true) }},
		{"chat, in one piece", func(ctx context.Context, words string) (moments, error) {
			return w.chat(ctx, w.app.URL(), words, false)
		}},
		{"`POST /v1/sessions`, `Prefer: wait`", w.session},
		{"echo, streamed", func(ctx context.Context, words string) (moments, error) { return w.chat(ctx, echo, words, true) }},
		{"echo, in one piece", func(ctx context.Context, words string) (moments, error) { return w.chat(ctx, echo, words, false) }},
	}
	n := e.rounds * e.of(20)
	for _, work := range []struct{ takes, words string }{{"no time", "check the gauge g-01"}, {nap.String(), "observe the gauge g-01"}} {
		took, err := interleave(ctx, talkers, work.words, n)
		if err != nil {
			return err
		}
		p.printf("\n### A message that asks for one read that takes %s, %d times each\n\n", work.takes, n)
		p.printf("| | first byte p50 | p95 | first status p50 | p95 | first content p50 | p95 | whole p50 | p95 | of REST |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		rest := took[2].of(func(m moments) time.Duration { return m.total }).at(0.5)
		for i, t := range talkers {
			p.printf("| %s |%s × %.2f |\n", t.name, took[i].cells(), float64(took[i].of(func(m moments) time.Duration { return m.total }).at(0.5))/float64(rest))
		}
	}
	return nil
}

// interleave makes every talker ask n times in turn, so that other load of the machine affects all
// alike. The first tenth is a warm-up.
func interleave(ctx context.Context, talkers []talker, words string, n int) ([]told, error) {
	out := make([]told, len(talkers))
	warm := max(n/10, 1)
	for round := range n + warm {
		for i, t := range talkers {
			m, err := t.ask(ctx, words)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			if round >= warm {
				out[i] = append(out[i], m)
			}
		}
	}
	return out, nil
}

// told has the results of many equal messages.
type told []moments

func (t told) of(which func(moments) time.Duration) *sample {
	out := &sample{}
	for _, m := range t {
		if d := which(m); d > 0 {
			out.each = append(out.each, d)
		}
	}
	return out
}

// cells formats the columns of a table.
func (t told) cells() string {
	var out strings.Builder
	for _, which := range []func(moments) time.Duration{
		func(m moments) time.Duration { return m.first }, func(m moments) time.Duration { return m.status },
		func(m moments) time.Duration { return m.content }, func(m moments) time.Duration { return m.total },
	} {
		s := t.of(which)
		if len(s.each) == 0 {
			out.WriteString(" | |")
			continue
		}
		fmt.Fprintf(&out, " %.1f | %.1f |", milliseconds(s.at(0.5)), milliseconds(s.at(0.95)))
	}
	return out.String()
}

// chat sends a message as Open WebUI does, in a new chat.
func (w *whole) chat(ctx context.Context, base, words string, stream bool) (moments, error) {
	body, err := json.Marshal(map[string]any{"model": "manifold", "stream": stream, "messages": []any{map[string]string{"role": "user", "content": words}}})
	if err != nil {
		return moments{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return moments{}, err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("X-OpenWebUI-Task", "") // a real message of an Open WebUI
	began := time.Now()
	res, err := w.http.Do(req)
	if err != nil {
		return moments{}, err
	}
	defer res.Body.Close() // it was only read
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(res.Body)
		return moments{}, errors.Join(err, fmt.Errorf("%s: %s", res.Status, text))
	}
	m, content, err := listenTo(res.Body, began)
	if err == nil && base == w.app.URL() && !strings.Contains(content, "42") {
		err = fmt.Errorf("the answer has no reading: %s", content)
	}
	return m, err
}

// answered is a chunk of a stream, or a whole answer.
type answered struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
		} `json:"delta"`
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	} `json:"choices"`
	Event *json.RawMessage `json:"event"`
}

// listenTo reads an answer to its end.
func listenTo(body io.Reader, began time.Time) (moments, string, error) {
	var m moments
	var content string
	once := func(d *time.Duration, is bool) {
		if is && *d == 0 {
			*d = time.Since(began)
		}
	}
	for lines := bufio.NewReader(body); ; {
		line, err := lines.ReadBytes('\n')
		once(&m.first, len(line) > 0)
		var a answered
		if text := bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: ")); len(text) > 0 && text[0] == '{' {
			if err := json.Unmarshal(text, &a); err != nil {
				return m, content, err
			}
		}
		once(&m.status, a.Event != nil)
		for _, c := range a.Choices {
			once(&m.status, c.Delta.Reasoning != "")
			content += c.Delta.Content + c.Message.Content
			once(&m.content, content != "")
		}
		if err == io.EOF {
			once(&m.total, true)
			return m, content, nil
		}
		if err != nil {
			return m, content, err
		}
	}
}

// session sends the request by REST, and waits for the answer.
func (w *whole) session(ctx context.Context, words string) (moments, error) {
	began := time.Now()
	r, err := w.client.StartSession(ctx, contracts.StartSession{Message: words}, client.Opt{Wait: 30 * time.Second})
	if err == nil && (r.Status != contracts.SessionCompleted || r.Answer == nil) {
		err = fmt.Errorf("session %s is %s", r.SessionID, r.Status)
	}
	return moments{total: time.Since(began)}, err
}

// echoes is a minimal server of OpenAI's API that repeats the message.
func echoes(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Stream   bool
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	words := body.Messages[len(body.Messages)-1].Content
	if !body.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": words}, "finish_reason": "stop"}}}) // the caller notices an error
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, delta := range []map[string]string{{"role": "assistant", "content": ""}, {"content": words}, {}} {
		raw, err := json.Marshal(map[string]any{"object": "chat.completion.chunk", "choices": []any{map[string]any{"delta": delta}}})
		if err != nil {
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", raw) // as above
		_ = http.NewResponseController(w).Flush()  // as above
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // as above
}
