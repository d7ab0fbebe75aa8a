package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// said is an answer as a frontend sees it.
type said struct {
	status    int
	content   string
	reasoning string
	finish    string
	failure   string
	model     string
	statuses  []status
	events    map[string]json.RawMessage
	usage     bool
	comments  int
	tools     []calledTool
	first     time.Duration
}

type status struct {
	Description string `json:"description"`
	Done        bool   `json:"done"`
}

type calledTool struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type piece struct {
	Model   string           `json:"model"`
	Type    *json.RawMessage `json:"type"`
	Choices *json.RawMessage `json:"choices"`
	Usage   *json.RawMessage `json:"usage"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
	Event *struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	} `json:"event"`
}

type pieceChoice struct {
	Delta struct {
		Role      string       `json:"role"`
		Content   string       `json:"content"`
		Reasoning string       `json:"reasoning_content"`
		ToolCalls []calledTool `json:"tool_calls"`
	} `json:"delta"`
	Message struct {
		Content string `json:"content"`
	} `json:"message"`
	FinishReason string `json:"finish_reason"`
}

// longestLine is the limit of Open WebUI's HTTP client.
const longestLine = 128 << 10

// readLikeOpenWebUI reads a streamed answer by the rules of Open WebUI's reader: single lines with the
// prefix "data:" count, comments and names do not, [DONE] is ignored, and the stream ends with the
// connection.
func readLikeOpenWebUI(t *testing.T, res *http.Response, begun time.Time) said {
	t.Helper()
	out := said{status: res.StatusCode, events: map[string]json.RawMessage{}}
	if !strings.Contains(res.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		out.take(t, raw)
		return out
	}
	lines, done := bufio.NewReaderSize(res.Body, longestLine), false
	for n := 0; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		if n == 0 {
			out.first = time.Since(begun)
		}
		if len(line) >= 64<<10 {
			t.Errorf("line %d has %d bytes", n, len(line))
		}
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		switch text := string(bytes.TrimSpace(line)); {
		case strings.HasPrefix(text, ":"):
			out.comments++
		case text != "" && !isData:
			t.Errorf("line %d is nothing that every frontend knows: %s", n, text)
		}
		if isData {
			data = bytes.TrimSpace(data)
			if done {
				t.Errorf("after [DONE]: %s", data)
			}
			if done = string(data) == "[DONE]"; !done {
				out.take(t, data)
			}
		}
	}
	if !done {
		t.Error("the stream has no [DONE]")
	}
	if n := len(out.statuses); n > 0 && !out.statuses[n-1].Done {
		t.Errorf("the last status is left open: %+v", out.statuses)
	}
	return out
}

func (s *said) take(t *testing.T, raw []byte) {
	t.Helper()
	var p piece
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if p.Error != nil {
		s.failure = p.Error.Message
		return
	}
	if p.Type != nil {
		t.Errorf("Open WebUI takes a type for an event of another API: %s", raw)
	}
	if p.Choices == nil {
		t.Fatalf("OpenAI's clients fail without choices: %s", raw)
	}
	var choices []pieceChoice
	if err := json.Unmarshal(*p.Choices, &choices); err != nil || choices == nil || len(choices) > 1 {
		t.Fatalf("choices of %s: %v", raw, err)
	}
	s.model, s.usage = p.Model, s.usage || p.Usage != nil
	if p.Event != nil {
		if len(choices) != 0 {
			t.Errorf("an event with choices: %s", raw)
		}
		s.event(t, p.Event.Type, p.Event.Data)
	}
	for _, c := range choices {
		s.content += c.Delta.Content + c.Message.Content
		s.reasoning += c.Delta.Reasoning
		s.tools = append(s.tools, c.Delta.ToolCalls...)
		if c.FinishReason != "" {
			s.finish = c.FinishReason
		}
	}
}

func (s *said) event(t *testing.T, kind string, data json.RawMessage) {
	t.Helper()
	s.events[kind] = data
	switch kind {
	case "status":
	case "chat:message:follow_ups", "chat:message:tasks":
		return
	default: // other events ask for an answer, run scripts, or conflict with the text
		t.Errorf("an event that Open WebUI must not get: %s", kind)
		return
	}
	var st status
	if err := json.Unmarshal(data, &st); err != nil || strings.Contains(st.Description, "\n") {
		t.Errorf("status %s: %v", data, err)
	}
	s.statuses = append(s.statuses, st)
}

// tasks returns the states of the last checklist, in order.
func (s *said) tasks(t *testing.T) string {
	t.Helper()
	raw, sent := s.events["chat:message:tasks"]
	if !sent {
		return "none"
	}
	var list struct {
		Tasks []struct{ ID, Content, Status string }
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Errorf("checklist %s: %v", raw, err)
	}
	var states []string
	for _, task := range list.Tasks {
		if task.ID == "" || task.Content == "" {
			t.Errorf("checklist %s", raw)
		}
		states = append(states, task.Status)
	}
	return strings.Join(states, " ")
}

// message is one entry of a history.
type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// post sends a chat request as a frontend does.
func (s *site) post(who string, body map[string]any, headers map[string]string) said {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/v1/chat/completions", bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.text[who])
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	begun := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	got := readLikeOpenWebUI(s.t, res, begun)
	if len(got.tools) > 0 && body["tools"] == nil || len(got.tools) > 1 {
		s.t.Fatalf("Open WebUI would call %+v again and again", got.tools)
	}
	if got.status == http.StatusOK && got.failure == "" && got.content == "" {
		s.t.Fatal("an answer without text never ends in Open WebUI")
	}
	if n := strings.Count(got.content, "[//]: #"); n > 1 || n != strings.Count(got.content, "\n\n[//]: #") {
		s.t.Errorf("a marker that Markdown shows: %s", got.content)
	}
	return got
}
