package httpapi_test

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestConversations plays the conversations of testdata/chat. Each file says which mistakes it
// covers, and has sections in txtar format: actions, and the expectations after them.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/chat/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, n := range sample.Of(t, len(files), 1) {
		file := files[n]
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(filepath.Base(file), "hour-") { // these need Workday as well
				newTalk(t, withPeople(t)).play(raw)
				return
			}
			newTalk(t).play(raw)
		})
	}
}

// TestEveryConversationIsInTheTable compares the table of testdata/chat with the files beside it.
func TestEveryConversationIsInTheTable(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/chat/README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`[a-z-]+\.txtar`).FindAllString(string(table), -1) {
		named[name] = true
		if _, err := os.Stat(filepath.Join("testdata/chat", name)); err != nil {
			t.Error(err)
		}
	}
	files, err := filepath.Glob("testdata/chat/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !named[filepath.Base(file)] {
			t.Errorf("%s is not in the table", file)
		}
	}
}

type section struct{ name, body string }

// sections parses a txtar archive.
func sections(raw []byte) []section {
	var out []section
	for line := range strings.SplitAfterSeq(string(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))), "\n") {
		text := strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(text, "-- "); ok && strings.HasSuffix(name, " --") {
			out = append(out, section{name: strings.TrimSuffix(name, " --")})
		} else if len(out) > 0 {
			out[len(out)-1].body += line
		}
	}
	return out
}

// talk is the state of a frontend: the histories of its chats.
type talk struct {
	*site

	chats map[string][]message
	ids   map[string]string // of the last user message of a chat
	last  said
	codes []string
	marks string // the last marker
}

func newTalk(t *testing.T, change ...func(*app.Config)) *talk {
	t.Helper()
	s := setup(t, change...)
	s.person("uma", "operator", "approver")
	s.person("ugo", "operator", "approver")
	s.key(contracts.KeySpec{Kind: "frontend", Principal: "openwebui", Roles: []string{"operator", "approver", "viewer"}})
	return &talk{site: s, chats: map[string][]message{}, ids: map[string]string{}}
}

func (k *talk) play(raw []byte) {
	k.t.Helper()
	for n, s := range sections(raw) {
		words := strings.Fields(s.name)
		options := map[string]string{}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			options[name] = value
		}
		body := k.fill(strings.TrimSpace(s.body))
		where := strconv.Itoa(n+1) + " (" + s.name + ")"
		switch words[0] {
		case "say":
			k.say(options, body)
		case "put": // a message of another role, not sent yet
			k.chats[options["chat"]] = append(k.chats[options["chat"]], message{Role: options["role"], Content: body, ToolCallID: options["tool"]})
		case "twice": // a double click: the same message at the same time
			k.twice(options, body)
		case "task":
			k.task(options, body)
		case "regenerate", "continue", "fork", "edit", "fake":
			k.rework(words[0], options, body)
		case "expect":
			k.expect(where, body)
		default:
			k.t.Fatalf("section %s: what is that?", where)
		}
	}
}

// fill replaces placeholders in a text by the displayed codes.
func (k *talk) fill(text string) string {
	for n, code := range k.codes {
		text = strings.ReplaceAll(text, "{code"+strconv.Itoa(n+1)+"}", code)
	}
	return strings.ReplaceAll(text, "{marker}", k.marks)
}

func (k *talk) say(o map[string]string, words string) {
	k.t.Helper()
	chat := o["chat"]
	k.chats[chat] = append(k.chats[chat], message{Role: "user", Content: words})
	k.ids[chat] = o["id"]
	k.send(o)
}

// twice sends one message twice concurrently; both answers must be the same.
func (k *talk) twice(o map[string]string, words string) {
	k.t.Helper()
	history := append(slices.Clone(k.chats[o["chat"]]), message{Role: "user", Content: words})
	body := map[string]any{"model": "manifold", "messages": history, "stream": false}
	other := make(chan said, 1)
	go func() {
		defer close(other)
		other <- k.post(cmp.Or(o["as"], "uma"), body, headersOf(o))
	}()
	k.say(o, words)
	if got := <-other; got.content != k.last.content {
		k.t.Errorf("one click shows\n%s\nthe other\n%s", k.last.content, got.content)
	}
}

// task makes a background request of the frontend about a chat.
func (k *talk) task(o map[string]string, prompt string) {
	k.t.Helper()
	headers := headersOf(o)
	if o["name"] != "" {
		headers["X-OpenWebUI-Task"] = o["name"]
	}
	k.last = k.post(cmp.Or(o["as"], "uma"), map[string]any{"model": "manifold", "stream": false, "messages": []message{{Role: "user", Content: prompt}}}, headers)
}

// headersOf returns the frontend's headers for the chat, the message and the user.
func headersOf(o map[string]string) map[string]string {
	headers := map[string]string{}
	for option, name := range map[string]string{
		"header": "X-OpenWebUI-Chat-Id", "id": "X-OpenWebUI-User-Message-Id", "conversation": "X-Conversation-Id",
		"user": "X-OpenWebUI-User-Email", "role": "X-OpenWebUI-User-Role", "retry": "X-Stainless-Retry-Count", "key": "Idempotency-Key", "language": "Accept-Language",
	} {
		if o[option] != "" {
			headers[name] = o[option]
		}
	}
	return headers
}

// send sends the history of a chat unchanged, and appends the answer.
func (k *talk) send(o map[string]string) {
	k.t.Helper()
	chat, who := o["chat"], cmp.Or(o["as"], "uma")
	body := map[string]any{"model": "manifold", "messages": k.chats[chat], "stream": o["stream"] != "no", "stream_options": map[string]any{"include_usage": true}}
	if o["model"] != "" {
		body["model"] = o["model"]
	}
	k.last = k.post(who, body, headersOf(o))
	if k.last.content == "" {
		return
	}
	k.chats[chat] = append(k.chats[chat], message{Role: "assistant", Content: k.last.content})
	for _, m := range regexp.MustCompile("approve ([2-9A-HJ-NP-Z]{5})`").FindAllStringSubmatch(k.last.content, -1) {
		if !strings.Contains(strings.Join(k.codes, " "), m[1]) {
			k.codes = append(k.codes, m[1])
		}
	}
	if m := regexp.MustCompile(`(?m)^\[//\]: # .*$`).FindString(k.last.content); m != "" {
		k.marks = m
	}
}

// rework changes a history as frontends let people do.
func (k *talk) rework(what string, o map[string]string, words string) {
	k.t.Helper()
	chat := o["chat"]
	history := k.chats[chat]
	if o["id"] == "" {
		o = maps.Clone(o)
		o["id"] = k.ids[chat]
	}
	switch what {
	case "regenerate": // the answer is removed, the message stays the same
		k.chats[chat] = history[:len(history)-1]
		if words != "" { // with an instruction, which is a further message
			k.chats[chat] = append(k.chats[chat], message{Role: "user", Content: words})
		}
		k.send(o)
	case "continue": // the history ends with the answer
		k.send(o)
		k.chats[chat] = history
	case "fork":
		k.chats[o["to"]] = append([]message{}, history...)
	case "edit": // a user message is replaced, and later messages are removed
		turn, err := strconv.Atoi(o["turn"])
		if err != nil {
			k.t.Fatal(err)
		}
		k.chats[chat] = append([]message{}, history[:2*(turn-1)]...)
		k.say(o, words)
	case "fake": // the last answer is replaced by another one
		history[len(history)-1].Content = words
	}
}

// expect checks the expectations line by line.
func (k *talk) expect(where, lines string) {
	k.t.Helper()
	for line := range strings.SplitSeq(lines, "\n") {
		what, rest, _ := strings.Cut(line, " ")
		ok := false
		switch what {
		case "says":
			ok = strings.Contains(k.last.content, rest)
		case "hides":
			ok = !strings.Contains(k.last.content, rest)
		case "fails":
			ok = strings.Contains(k.last.failure, rest)
		case "status":
			ok = strconv.Itoa(k.last.status) == rest
		case "sessions":
			ok = k.sessionsOf("uma") == number(rest)
		case "runs":
			ok = len(k.runs("")) == number(rest)
		case "completed":
			ok = k.completed(number(rest))
		case "gates":
			ok = k.openGates() == number(rest)
		case "traced":
			ok = k.traced(rest)
		case "reasons":
			ok = strings.Contains(k.last.reasoning, rest)
		case "tasks":
			ok = k.last.tasks(k.t) == rest
		case "chip":
			ok = strings.Contains(string(k.last.events["chat:message:follow_ups"]), `"`+rest+`"`)
		default:
			k.t.Fatalf("%s: what is %q?", where, line)
		}
		if !ok {
			k.t.Errorf("%s: %q does not hold; %d runs, %d gates, failure %q, answer:\n%s", where, line, len(k.runs("")), k.openGates(), k.last.failure, k.last.content)
		}
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

func (k *talk) runs(state contracts.RunState) []contracts.RunSummary {
	k.t.Helper()
	runs, err := k.admin.Runs(k.t.Context(), client.RunsFilter{Everybody: true, State: state})
	if err != nil {
		k.t.Fatal(err)
	}
	return runs
}

// completed waits for the runs that an approver has started for somebody else.
func (k *talk) completed(n int) bool {
	deadline, tick := time.After(10*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for len(k.runs(contracts.RunCompleted)) < n {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return len(k.runs(contracts.RunCompleted)) == n
}

func (k *talk) sessionsOf(who string) int {
	k.t.Helper()
	sessions, err := k.with(k.text[who]).Sessions(k.t.Context(), time.Time{}, 100)
	if err != nil {
		k.t.Fatal(err)
	}
	return len(sessions)
}

// traced reports whether an approval is recorded with these words.
func (k *talk) traced(words string) bool {
	k.t.Helper()
	gates, err := k.admin.Gates(k.t.Context(), client.GatesFilter{})
	if err != nil {
		k.t.Fatal(err)
	}
	for _, g := range gates {
		for _, d := range g.Decisions {
			if strings.Contains(d.DecidedBy+": "+d.Comment, words) {
				return true
			}
		}
	}
	return false
}

func (k *talk) openGates() int {
	k.t.Helper()
	gates, err := k.admin.Gates(k.t.Context(), client.GatesFilter{Status: contracts.InterruptOpen})
	if err != nil {
		k.t.Fatal(err)
	}
	return len(gates)
}
