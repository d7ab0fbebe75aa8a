package openwebui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// The people: Ana is an admin of Open WebUI, and may approve; Bob is a user,
// and may ask.
const (
	ana      = "ana@example.com"
	bob      = "bob@example.com"
	password = "a-password-of-these-tests"
)

// person is somebody who is signed in to Open WebUI.
type person struct {
	t     *testing.T
	s     *stage
	token string
}

// signIn signs somebody in. It is done once for each, since Open WebUI bounds
// how often; who is not its admin is made before.
func (s *stage) signIn(t *testing.T, email string) *person {
	t.Helper()
	p := &person{t: t, s: s, token: s.tokens[email]}
	if p.token != "" {
		return p
	}
	if email != ana {
		s.signIn(t, ana).send("POST", "/api/v1/auths/add", map[string]any{"name": strings.Split(email, "@")[0], "email": email, "password": password, "role": "user"}, nil)
	}
	var in struct {
		Token string `json:"token"`
	}
	p.send("POST", "/api/v1/auths/signin", map[string]any{"email": email, "password": password}, &in)
	p.token, s.tokens[email] = in.Token, in.Token
	return p
}

func (p *person) send(method, path string, body, out any) {
	p.t.Helper()
	if status, text := p.try(method, path, body, out); status != http.StatusOK {
		p.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
}

func (p *person) try(method, path string, body, out any) (status int, text string) {
	p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.s.webui+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+p.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if out != nil && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(answer, out); err != nil {
			p.t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
		}
	}
	return res.StatusCode, string(answer)
}

// stored is a message as Open WebUI keeps it.
type stored struct {
	ID       string   `json:"id"`
	ParentID string   `json:"parentId"`
	Children []string `json:"childrenIds"`
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Done     bool     `json:"done"`
	Error    any      `json:"error"`
	Statuses []struct {
		Description string `json:"description"`
		Done        bool   `json:"done"`
	} `json:"statusHistory"`
	FollowUps []string `json:"followUps"`
	Output    []struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		CallID  string `json:"call_id"`
		Status  string `json:"status"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"output"`
	Usage map[string]any `json:"usage"`
}

// text is what is to be read of an answer.
func (m stored) text() string {
	var out strings.Builder
	for _, o := range m.Output {
		if o.Type == "message" {
			for _, c := range o.Content {
				out.WriteString(c.Text)
			}
		}
	}
	if out.Len() == 0 {
		return m.Content
	}
	return out.String()
}

// chat is one chat of a person, by Open WebUI's REST API.
type chat struct {
	*person

	id    string
	model string
	last  string // the id of the last answer
	asked string // the id of the last message of the person
}

func (p *person) newChat() *chat { return &chat{person: p, model: "manifold"} }

// say sends a message, waits for the end of its answer, and gives it as it is
// kept.
func (c *chat) say(words string) stored {
	c.t.Helper()
	message := map[string]any{
		"id": execution.NewID("u"), "parentId": nil, "childrenIds": []string{}, "role": "user", "content": words,
		"timestamp": time.Now().Unix(), "models": []string{c.model},
	}
	if c.last != "" {
		message["parentId"] = c.last
	}
	c.asked = message["id"].(string)
	return c.complete(message)
}

// regenerate asks for another answer to the last message.
func (c *chat) regenerate() stored {
	c.t.Helper()
	question := c.messages()[c.asked]
	message := map[string]any{
		"id": question.ID, "parentId": nil, "childrenIds": question.Children, "role": "user", "content": question.Content, "models": []string{c.model},
	}
	if question.ParentID != "" {
		message["parentId"] = question.ParentID
	}
	return c.complete(message)
}

func (c *chat) complete(message map[string]any) stored {
	c.t.Helper()
	answer := execution.NewID("a")
	body := map[string]any{
		"model": c.model, "stream": true, "id": answer, "user_message": message, "parent_id": message["parentId"],
		"messages":         []map[string]any{{"role": "user", "content": message["content"]}},
		"background_tasks": map[string]bool{"title_generation": c.id == "", "tags_generation": c.id == "", "follow_up_generation": true},
	}
	if c.id != "" {
		body["chat_id"] = c.id
	}
	known := c.chatIDs()
	c.send("POST", "/api/chat/completions", body, nil)
	if c.id == "" {
		for id := range c.chatIDs() {
			if !known[id] {
				c.id = id
			}
		}
	}
	c.last = answer
	var m stored
	eventually(c.t, "the answer is kept", func() bool {
		m = c.messages()[answer]
		return m.Done
	})
	return m
}

func (c *chat) chatIDs() map[string]bool {
	c.t.Helper()
	var chats []struct {
		ID string `json:"id"`
	}
	c.send("GET", "/api/v1/chats/", nil, &chats)
	out := map[string]bool{}
	for _, chat := range chats {
		out[chat.ID] = true
	}
	return out
}

// kept is a chat as Open WebUI keeps it.
type kept struct {
	Title string `json:"title"`
	Meta  struct {
		Tags []string `json:"tags"`
	} `json:"meta"`
	Chat struct {
		History struct {
			Messages map[string]stored `json:"messages"`
		} `json:"history"`
	} `json:"chat"`
}

func (c *chat) kept() kept {
	c.t.Helper()
	var out kept
	c.send("GET", "/api/v1/chats/"+url.PathEscape(c.id), nil, &out)
	return out
}

func (c *chat) messages() map[string]stored { return c.kept().Chat.History.Messages }

// runs are the runs of somebody, by their address.
func (s *stage) runs(t *testing.T, email string) []contracts.RunSummary {
	t.Helper()
	all, err := s.admin.Runs(t.Context(), client.RunsFilter{Everybody: true, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	var out []contracts.RunSummary
	for _, r := range all {
		if strings.Contains(r.Owner, email) {
			out = append(out, r)
		}
	}
	return out
}

func (s *stage) runsIn(t *testing.T, email string, state contracts.RunState) int {
	t.Helper()
	n := 0
	for _, r := range s.runs(t, email) {
		if r.State == state {
			n++
		}
	}
	return n
}

// alerts are the price alerts that are really set, by their price.
func (s *stage) alerts(t *testing.T) map[float64]int {
	t.Helper()
	req := contracts.StartSession{Message: "which price alerts are set"}
	res, err := s.admin.StartSession(t.Context(), req, client.Opt{})
	if err != nil {
		t.Fatal(err)
	}
	if res, err = s.admin.AwaitSession(t.Context(), res.SessionID); err != nil {
		t.Fatal(err)
	}
	out := map[float64]int{}
	for _, b := range res.Answer.Blocks {
		for _, row := range b.Rows {
			for i, c := range b.Columns {
				if price, ok := row[i].(float64); ok && c.Title != "" {
					out[price]++
				}
			}
		}
	}
	return out
}

func describe(m stored) string {
	return fmt.Sprintf("statuses %+v, follow-ups %q, error %v, text:\n%s", m.Statuses, m.FollowUps, m.Error, m.text())
}
