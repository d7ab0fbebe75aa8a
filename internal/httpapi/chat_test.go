package httpapi_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

func TestModelsAreOneForEverythingAndOneForEachDomain(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.send("rita", "GET", "/v1/models", "")
	var list struct {
		Object string `json:"object"`
		Data   []struct {
			ID, Object, Name string
			Created          int64
			OwnedBy          string `json:"owned_by"`
			Pipeline         any    `json:"pipeline"`
			Info             struct {
				Meta struct {
					Description       string `json:"description"`
					SuggestionPrompts []struct {
						Title   []string `json:"title"`
						Content string   `json:"content"`
					} `json:"suggestion_prompts"`
				} `json:"meta"`
			} `json:"info"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		t.Fatalf("%v: %s", err, a.body)
	}
	if len(list.Data) != 2 || list.Data[0].ID != "manifold" || list.Data[1].ID != "manifold-finance" {
		t.Fatalf("models %+v", list.Data)
	}
	for _, m := range list.Data {
		if m.Object != "model" || m.OwnedBy == "" || m.Created == 0 || m.Name == "" || m.Pipeline != nil || m.Info.Meta.Description == "" {
			t.Errorf("model %+v", m)
		}
		if len(m.Info.Meta.SuggestionPrompts) == 0 || m.Info.Meta.SuggestionPrompts[0].Content == "" || len(m.Info.Meta.SuggestionPrompts[0].Title) != 2 {
			t.Errorf("%s: starters %+v", m.ID, m.Info.Meta.SuggestionPrompts)
		}
	}
	if b := s.send("rita", "GET", "/v1/models/manifold-finance", ""); b.status != 200 || !strings.Contains(b.body, `"id":"manifold-finance"`) {
		t.Errorf("%d %s", b.status, b.body)
	}
}

func TestPathsAreFoundHoweverPeopleWriteThem(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const body = `{"model":"manifold","messages":[{"role":"user","content":"help"}]}`
	for _, path := range []string{"/models", "//models", "/v1/models", "/v1//models", "//v1/models", "/v1/models/", "/models/"} {
		if a := s.send("rita", "GET", path, ""); a.status != 200 || !strings.Contains(a.body, `"object":"list"`) {
			t.Errorf("GET %s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/chat/completions", "/v1/chat/completions", "//chat/completions", "/v1//chat/completions", "/v1/chat//completions"} {
		if a := s.send("rita", "POST", path, body); a.status != 200 || !strings.Contains(a.body, `"object":"chat.completion"`) {
			t.Errorf("POST %s: %d %s", path, a.status, a.body)
		}
	}
}

func TestErrorsAreThoseOfOpenAI(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.text["liar"] = "mfk_wrong"
	const hello = `"messages":[{"role":"user","content":"help"}]`
	for name, c := range map[string]struct {
		who, method, path, body, code string
		status                        int
	}{
		"a key is needed":                      {"", "POST", "/v1/chat/completions", `{}`, "invalid_api_key", 401},
		"a wrong key is told":                  {"liar", "GET", "/models", ``, "invalid_api_key", 401},
		"an unknown model is told":             {"rita", "POST", "/v1/chat/completions", `{"model":"gpt-4",` + hello + `}`, "model_not_found", 404},
		"an unknown model is not found":        {"rita", "GET", "/v1/models/gpt-4", ``, "model_not_found", 404},
		"a model of no domain is told":         {"rita", "POST", "/v1/chat/completions", `{"model":"manifold-nowhere",` + hello + `}`, "model_not_found", 404},
		"no messages are invalid":              {"rita", "POST", "/v1/chat/completions", `{"model":"manifold","messages":[]}`, "invalid", 400},
		"no user message is invalid":           {"rita", "POST", "/v1/chat/completions", `{"model":"manifold","messages":[{"role":"system","content":"x"}]}`, "invalid", 400},
		"an empty message is invalid":          {"rita", "POST", "/v1/chat/completions", `{"model":"manifold","messages":[{"role":"user","content":" "}]}`, "invalid", 400},
		"an empty message is invalid streamed": {"rita", "POST", "/v1/chat/completions", `{"model":"manifold","stream":true,"messages":[{"role":"user","content":" "}]}`, "invalid", 400},
		"no JSON is invalid":                   {"rita", "POST", "/v1/chat/completions", `{"model`, "invalid", 400},
		"a content of another kind is invalid": {"rita", "POST", "/v1/chat/completions", `{"model":"manifold","messages":[{"role":"user","content":7}]}`, "invalid", 400},
		"embeddings are not there":             {"rita", "POST", "/v1/embeddings", `{}`, "unsupported_endpoint", 404},
		"old completions are not there":        {"rita", "POST", "/completions", `{}`, "unsupported_endpoint", 404},
		"responses are not there":              {"rita", "POST", "/v1/responses", `{}`, "unsupported_endpoint", 404},
		"another method is not possible":       {"rita", "GET", "/v1/chat/completions", ``, "unsupported", 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.send(c.who, c.method, c.path, c.body)
			var e struct {
				Error struct {
					Message, Type, Code string
				} `json:"error"`
			}
			if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != c.status || e.Error.Code != c.code || e.Error.Message == "" || e.Error.Type == "" {
				t.Errorf("%d %s", a.status, a.body)
			}
			if media := a.header.Get("Content-Type"); !strings.HasPrefix(media, "application/json") {
				t.Errorf("content type %s", media)
			}
		})
	}
}

func TestFieldsOfOthersAndPartsAreTaken(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, body := range []string{
		`{"model":"manifold","stream":null,"stream_options":null,"tools":null,"user":7,"metadata":{"a":1},"temperature":0.1,"messages":[{"role":"system","content":"You are a pirate."},{"role":"user","content":[{"type":"text","text":"what is the stock price of Apple"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`,
		`{"model":"manifold","tools":[{"type":"function","function":{"name":"get_time","parameters":{}}}],"tool_choice":"auto","messages":[{"role":"user","content":"what is the stock price of Apple"}]}`,
		`{"model":"manifold","messages":[{"role":"assistant","content":null,"tool_calls":[]},{"role":"user","content":"what is the stock price of Apple"}]}`,
	} {
		if a := s.send("rita", "POST", "/v1/chat/completions", body); a.status != 200 || !strings.Contains(a.body, "AAPL") {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	large := `{"model":"manifold","messages":[{"role":"user","content":"` + strings.Repeat("a", 51<<20) + `"}]}`
	if a := s.send("rita", "POST", "/v1/chat/completions", large); a.status != 413 || !strings.Contains(a.body, `"error"`) {
		t.Errorf("a body that is too large: %d %.200s", a.status, a.body)
	}
}

func ask(words string, more map[string]any) map[string]any {
	body := map[string]any{"model": "manifold", "stream": true, "messages": []message{{Role: "user", Content: words}}}
	maps.Copy(body, more)
	return body
}

func TestProgressGoesToEachFrontendInItsOwnForm(t *testing.T) {
	t.Parallel()
	s := setup(t)
	plain := s.post("rita", ask("what is the stock price of Apple", nil), nil)
	if plain.reasoning == "" || len(plain.statuses) != 0 || len(plain.events) != 0 || plain.usage || plain.finish != "stop" {
		t.Errorf("plain: %+v", plain)
	}
	rich := s.post("rita", ask("what is the stock price of Apple", map[string]any{"stream_options": map[string]any{"include_usage": true}}), map[string]string{"X-OpenWebUI-Chat-Id": "c1"})
	if rich.reasoning == "" || len(rich.statuses) < 2 || !rich.usage || !strings.Contains(rich.content, "| AAPL |") {
		t.Errorf("Open WebUI: %+v", rich)
	}
	if strings.Contains(rich.reasoning, "AAPL |") || rich.model != "manifold" {
		t.Errorf("%+v", rich)
	}
}

func TestBackgroundTasksAreAnsweredWithoutARun(t *testing.T) { //nolint:tparallel // the end of its subtests is waited for
	t.Parallel()
	k := newTalk(t)
	k.say(map[string]string{"chat": "a", "header": "c1", "id": "m1"}, alert)
	runs, sessions := len(k.runs("")), k.sessionsOf("uma")
	history := "### Chat History:\n<chat_history>\nUSER: " + alert + "\nASSISTANT: " + k.last.content + "\n</chat_history>"
	prompt := func(first string) string { return "### Task:\n" + first + "\n### Guidelines:\n- x\n" + history }
	tasks := map[string]struct {
		header, system, user, want string
		stream                     bool
	}{
		"title by header":           {"title_generation", "", "anything", `{"title":"` + alert + `"}`, false},
		"title by shape of 0.11":    {"", "", prompt("Generate a concise title summarizing the chat history."), `{"title":"` + alert + `"}`, false},
		"title by shape":            {"", "", prompt("Generate a concise, 3-5 word title with an emoji summarizing the chat history."), `{"title":"` + alert + `"}`, false},
		"tags":                      {"", "", prompt("Generate 1-3 broad tags categorizing the main themes of the chat history, along"), `{"tags":["Manifold","Agents"]}`, false},
		"follow-ups are commands":   {"follow_up_generation", "", "anything", `{"follow_ups":["Approve CODE","Reject CODE"]}`, false},
		"follow-ups by shape":       {"", "", prompt("Suggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next"), `{"follow_ups":["Approve CODE","Reject CODE"]}`, false},
		"queries":                   {"", "", prompt("Analyze the chat history to determine the necessity of generating search queries, in"), `{"queries":[]}`, false},
		"autocomplete":              {"", "", "### Task:\nYou are an autocompletion system. Continue the text in `<text>` based on", `{"text":""}`, false},
		"image prompt":              {"", "", prompt("Generate a detailed prompt for am image generation task based on"), `{"prompt":""}`, false},
		"emoji":                     {"", "", "Your task is to reflect the speaker's likely facial expression through a fitting emoji.", "🙂", false},
		"tools":                     {"", "Available Tools: []\n\nYour task is to choose and return the correct tool(s) from", "Query: " + alert, `{"tool_calls":[]}`, false},
		"memory":                    {"", "You are Open WebUI's private memory reviewer. Return only valid JSON.", alert, `{"operations":[]}`, false},
		"compaction":                {"context_compaction", "", "Summarize", alert, false},
		"merge, streamed":           {"moa_response_generation", "", "anything", alert, true},
		"an unknown task by header": {"something_new", "", alert, alert, false},
		"title of LibreChat":        {"", "", "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: " + alert + "\nAI: ok", alert, false},
	}
	t.Run("tasks", func(t *testing.T) {
		for name, c := range tasks {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				messages := []message{{Role: "user", Content: c.user}}
				if c.system != "" {
					messages = append([]message{{Role: "system", Content: c.system}}, messages...)
				}
				headers := map[string]string{"X-OpenWebUI-Chat-Id": "c1"}
				if c.header != "" {
					headers["X-OpenWebUI-Task"] = c.header
				}
				got := k.post("uma", map[string]any{"model": "manifold", "stream": c.stream, "messages": messages}, headers)
				if want := strings.ReplaceAll(c.want, "CODE", k.codes[0]); got.content != want {
					t.Errorf("%q, want %q", got.content, want)
				}
			})
		}
	})
	if len(k.runs("")) != runs || k.sessionsOf("uma") != sessions {
		t.Errorf("a task has begun something")
	}
}

func TestATaskHeaderThatIsEmptyOrNotFilledInIsNoTask(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, header := range []string{"", "{{TASK}}"} {
		got := s.post("rita", ask("what is the stock price of Apple", map[string]any{"stream": false}), map[string]string{"X-OpenWebUI-Task": header, "X-OpenWebUI-Chat-Id": "{{CHAT_ID}}"})
		if !strings.Contains(got.content, "AAPL") {
			t.Errorf("%q: %s", header, got.content)
		}
	}
	// With the header, a text that looks like a background task is none.
	got := s.post("rita", ask("### Task:\nGenerate a concise, 3-5 word title with an emoji\n<chat_history>\n</chat_history>", map[string]any{"stream": false}), map[string]string{"X-OpenWebUI-Task": ""})
	if strings.HasPrefix(got.content, "{") {
		t.Errorf("taken for a task: %s", got.content)
	}
}

func signed(secret, claims string) string {
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + enc.EncodeToString(mac.Sum(nil))
}

func TestSignedUsersAreTheOnlyOnesBelieved(t *testing.T) {
	t.Parallel()
	const secret = "a secret that both sides know, 32 bytes"
	s := setup(t, func(c *app.Config) { c.Frontends.JWTSecret = []byte(secret) })
	s.key(contracts.KeySpec{Kind: "frontend", Principal: "openwebui", Roles: []string{"operator", "viewer"}})
	claims := func(email, issuer string, expires time.Time) string {
		return fmt.Sprintf(`{"sub":"u1","email":%q,"name":"Ana","role":"user","iss":%q,"iat":1,"exp":%d}`, email, issuer, expires.Unix())
	}
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	good := signed(secret, claims("ana@example.com", "open-webui", soon))
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + strings.Split(good, ".")[1] + "."
	for name, c := range map[string]struct {
		who, header, value string
		status             int
	}{
		"a signed user is believed":            {"openwebui", "X-OpenWebUI-User-Jwt", good, 200},
		"one signed with another key is not":   {"openwebui", "X-OpenWebUI-User-Jwt", signed("another secret", claims("ana@example.com", "open-webui", soon)), 401},
		"an expired one is not":                {"openwebui", "X-OpenWebUI-User-Jwt", signed(secret, claims("ana@example.com", "open-webui", past)), 401},
		"one of another issuer is not":         {"openwebui", "X-OpenWebUI-User-Jwt", signed(secret, claims("ana@example.com", "somebody", soon)), 401},
		"one without a signature is not":       {"openwebui", "X-OpenWebUI-User-Jwt", none, 401},
		"no token is not":                      {"openwebui", "X-OpenWebUI-User-Jwt", "x.y", 401},
		"an unsigned user is refused":          {"openwebui", "X-OpenWebUI-User-Email", "boss@example.com", 401},
		"an unsigned one of ours is refused":   {"openwebui", "Manifold-User", "boss", 401},
		"a name that is none is refused":       {"openwebui", "X-OpenWebUI-User-Jwt", signed(secret, claims("a:b c", "open-webui", soon)), 400},
		"a person's own key speaks for itself": {"rita", "X-OpenWebUI-User-Jwt", "x.y", 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := s.post(c.who, ask("status", map[string]any{"stream": false}), map[string]string{c.header: c.value})
			if got.status != c.status {
				t.Errorf("%d %s %s", got.status, got.failure, got.content)
			}
		})
	}
}

func TestAnApprovalCardWhereItIsOffered(t *testing.T) {
	t.Parallel()
	offer := []any{map[string]any{"type": "function", "function": map[string]any{"name": "ask_user"}}}
	for name, c := range map[string]struct {
		answer string
		says   string
		done   int
	}{
		"approve":           {`{"status":"answered","answers":{"decision":{"type":"option","option_index":0,"label":"Approve"}}}`, "is approved", 1},
		"the bare label":    {"Approve", "is approved", 1},
		"reject":            {`{"status":"answered","answers":{"decision":{"type":"option","option_index":1,"label":"Reject"}}}`, "is rejected", 0},
		"cancelled":         {`{"status":"cancelled"}`, "It stays open. Reply `approve", 0},
		"later":             {`{"status":"answered","answers":{"decision":{"type":"option","option_index":0,"label":"Decide later"}}}`, "It stays open. Reply `approve", 0},
		"put away":          {"Error: tool call rejected by user.", "It stays open. Reply `approve", 0},
		"words that decide": {`{"status":"answered","answers":{"decision":{"type":"other","text":"approve"}}}`, "is approved", 1},
		"words that ask":    {`{"status":"answered","answers":{"decision":{"type":"other","text":"approve if it is cheap"}}}`, "", 0},
		"nothing written":   {`{"status":"answered","answers":{"decision":{"type":"other","text":" "}}}`, "It stays open. Reply `approve", 0},
		"something unclear": {"I think so", "It stays open. Reply `approve", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTalk(t)
			first := k.post("uma", ask(alert, map[string]any{"tools": offer}), map[string]string{"X-OpenWebUI-Chat-Id": "c1"})
			if len(first.tools) != 1 || first.tools[0].Function.Name != "ask_user" || first.finish != "tool_calls" {
				t.Fatalf("no card: %+v", first)
			}
			if chips, ok := first.events["chat:message:follow_ups"]; ok {
				t.Errorf("the card is not alone: %s", chips)
			}
			checkCard(t, first.tools[0].Function.Arguments)
			history := []message{{Role: "user", Content: alert}, {Role: "assistant", Content: first.content}, {Role: "tool", Content: c.answer, ToolCallID: first.tools[0].ID}}
			for range 2 { // a repeated answer is not a new decision
				got := k.post("uma", map[string]any{"model": "manifold", "stream": true, "messages": history, "tools": offer}, map[string]string{"X-OpenWebUI-Chat-Id": "c1"})
				if !strings.Contains(got.content, c.says) || !k.completed(c.done) {
					t.Errorf("%s", got.content)
				}
				if len(got.tools) != 0 || got.finish != "stop" {
					t.Errorf("the card that was just answered comes again: %+v", got.tools)
				}
			}
		})
	}
}

// checkCard checks a card against the limits of Open WebUI.
func checkCard(t *testing.T, arguments string) {
	t.Helper()
	var card struct {
		Questions []struct {
			ID, Header, Question string
			Options              []struct{ Label, Description string }
		} `json:"questions"`
		Timeout int `json:"timeout_ms"`
	}
	if err := json.Unmarshal([]byte(arguments), &card); err != nil || len(card.Questions) != 1 || card.Timeout < 60_000 || card.Timeout > 240_000 {
		t.Fatalf("card %s: %v", arguments, err)
	}
	q := card.Questions[0]
	if len(q.ID) > 64 || len(q.Header) > 48 || len([]rune(q.Question)) > 500 || len(q.Options) < 2 || len(q.Options) > 3 || !strings.Contains(q.Options[0].Description, "Nothing is done") {
		t.Errorf("card %+v", q)
	}
	for _, o := range q.Options {
		if o.Label == "" || o.Description == "" || len(o.Label) > 80 || len(o.Description) > 240 {
			t.Errorf("option %+v", o)
		}
	}
}

func TestACardOfSomebodyElseDecidesNothing(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	offer := []any{map[string]any{"type": "function", "function": map[string]any{"name": "ask_user"}}}
	first := k.post("uma", ask(alert, map[string]any{"tools": offer}), nil)
	history := []message{{Role: "user", Content: alert}, {Role: "assistant", Content: first.content}, {Role: "tool", Content: "Approve", ToolCallID: first.tools[0].ID}}
	got := k.post("ugo", map[string]any{"model": "manifold", "messages": history}, nil)
	if k.openGates() != 1 || strings.Contains(got.content, "is approved") {
		t.Errorf("%s", got.content)
	}
	// A user who may not approve gets no card.
	if none := k.post("rita", ask("set an alert for MSFT above 500", map[string]any{"tools": offer}), nil); len(none.tools) != 0 {
		t.Errorf("%+v", none.tools)
	}
}
