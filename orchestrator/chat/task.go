package chat

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Task is a background call of a frontend. It is answered at once, in the form that the frontend
// expects, and never starts a run.
type Task string

// The tasks, by their names in Open WebUI.
const (
	TaskTitle        Task = "title_generation"
	TaskTags         Task = "tags_generation"
	TaskFollowUps    Task = "follow_up_generation"
	TaskQueries      Task = "query_generation"
	TaskAutocomplete Task = "autocomplete_generation"
	TaskEmoji        Task = "emoji_generation"
	TaskImagePrompt  Task = "image_prompt_generation"
	TaskTools        Task = "function_calling"
	TaskMerge        Task = "moa_response_generation"
	TaskMemory       Task = "memory_review"
	TaskCompaction   Task = "context_compaction"
	// TaskPlainTitle is LibreChat's title task: its reply is plain text.
	TaskPlainTitle Task = "plain_title"
	// TaskUnknown looks like a task, with a prompt that an admin has rewritten.
	TaskUnknown Task = "unknown"
)

// Request is the input of Recognize.
type Request struct {
	// Header is the value of the task header. HasHeader means that it was sent: an empty one marks
	// a message of a user.
	Header    string
	HasHeader bool
	Stream    bool
	HasTools  bool
	// System and Users are the texts of the messages with these roles.
	System string
	Users  []string
}

// shapes are phrases near the start of the default prompts of frontends.
var shapes = []struct {
	task  Task
	words string
}{
	{TaskTitle, "generate a concise, 3-5 word title"},
	{TaskPlainTitle, "provide a concise, 5-word-or-less title"},
	{TaskPlainTitle, "a concise title in the detected language"},
	{TaskTags, "generate 1-3 broad tags"},
	{TaskFollowUps, "suggest 3-5 relevant follow-up questions"},
	{TaskQueries, "analyze the chat history to determine the necessity of generating search queries"},
	{TaskAutocomplete, "you are an autocompletion system"},
	{TaskImagePrompt, "generate a detailed prompt for am image generation task"},
	{TaskEmoji, "your task is to reflect the speaker's likely facial expression"},
	{TaskMerge, "you have been provided with a set of responses from various models"},
}

// Recognize reports whether a request is a background task. The header decides if it was sent, else
// the form of the request.
func Recognize(r Request) (Task, bool) {
	if r.HasHeader {
		return Task(r.Header), r.Header != ""
	}
	if strings.Contains(r.System, "private memory reviewer") {
		return TaskMemory, true
	}
	if strings.HasPrefix(r.System, "Available Tools:") && strings.Contains(r.System, "choose and return the correct tool") {
		return TaskTools, true
	}
	if r.Stream || r.HasTools || len(r.Users) != 1 {
		return "", false
	}
	head := strings.ToLower(r.Users[0][:min(len(r.Users[0]), 600)])
	for _, s := range shapes {
		if strings.Contains(head, s.words) {
			return s.task, true
		}
	}
	switch {
	case !strings.HasPrefix(strings.TrimSpace(head), "### task:"):
		return "", false
	case strings.Contains(r.Users[0], "<chat_history>"):
		return TaskTitle, true
	default:
		return TaskUnknown, true
	}
}

// notBegun is read by a person whose message was mistaken for a task; frontends that expect JSON
// ignore it.
const notBegun = "This looks like a background task of the chat frontend, so nothing was begun. Ask in a stream, or have the frontend send its task header."

// spoken matches the first words of the user in the prompt of a task, as Open WebUI and LibreChat
// format a history.
var spoken = regexp.MustCompile(`(?m)^(?:USER|User|Human): *(.+)$`)

// FirstWords returns a title from the first words of the user in the prompt of a task.
func FirstWords(prompt string) string {
	m := spoken.FindStringSubmatch(prompt)
	if m == nil {
		return "Chat"
	}
	words := strings.Fields(m[1])
	return contracts.CleanSummary(strings.Join(words[:min(len(words), 6)], " "))
}

// TaskContext is the data for the answers to tasks.
type TaskContext struct {
	// Title is the name of the session, Domain the domain of the model entry.
	Title, Domain string
	// FollowUps are the commands that fit the state of the session.
	FollowUps []string
}

// TaskReply returns the text of the answer to a task.
func TaskReply(t Task, c TaskContext) string {
	if c.FollowUps == nil {
		c.FollowUps = []string{}
	}
	switch t {
	case TaskTitle:
		return asJSON(map[string]any{"title": c.Title})
	case TaskTags:
		return asJSON(map[string]any{"tags": []string{c.Domain, "Agents"}})
	case TaskFollowUps:
		return asJSON(map[string]any{"follow_ups": c.FollowUps})
	case TaskQueries:
		return `{"queries":[]}`
	case TaskAutocomplete:
		return `{"text":""}`
	case TaskImagePrompt:
		return `{"prompt":""}`
	case TaskTools:
		return `{"tool_calls":[]}`
	case TaskMemory:
		return `{"operations":[]}`
	case TaskEmoji:
		return "🙂"
	case TaskUnknown:
		return notBegun
	case TaskMerge, TaskCompaction, TaskPlainTitle:
		return c.Title
	default: // a task of a later version: free text is the best guess
		return c.Title
	}
}

func asJSON(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		return "{}" // maps of strings always encode
	}
	return string(body)
}
