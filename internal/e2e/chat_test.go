package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// chatted is the answer to a chat request, as much of it as matters.
type chatted struct {
	status  int
	content string
	usage   contracts.Tokens
	err     error
}

// chat sends one message as rita through OpenAI's API, as the n-th try of a
// client that repeats by itself.
func (p *process) chat(words, try string) chatted {
	raw, err := json.Marshal(map[string]any{"model": "manifold", "messages": []any{map[string]string{"role": "user", "content": words}}})
	if err != nil {
		return chatted{err: err}
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"/v1/chat/completions", bytes.NewReader(raw))
	if err != nil {
		return chatted{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+p.keys[1])
	req.Header.Set("X-Stainless-Retry-Count", try)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return chatted{err: err}
	}
	defer res.Body.Close() // it was only read
	body, err := io.ReadAll(res.Body)
	var answer struct {
		Choices []struct {
			Message struct{ Content string }
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || len(answer.Choices) == 0 {
		return chatted{status: res.StatusCode, content: string(body), err: err}
	}
	return chatted{status: res.StatusCode, content: answer.Choices[0].Message.Content, usage: contracts.Tokens{In: answer.Usage.Prompt, Out: answer.Usage.Completion}}
}

// spoken lets people ask for the slow read and for a write in words.
func spoken(m *contracts.Manifest) {
	for name, sentence := range map[string]string{"slow": "inspect crate {id}", "put_keyed": "label crate {id} as {value}"} {
		c, yes := capability(m, name), true
		c.Metadata.Routable = &yes
		c.Metadata.IntentHints = &contracts.IntentHints{Examples: []string{
			strings.NewReplacer("{id}", `"k1"`, "{value}", `"blue"`).Replace(sentence),
			"please " + strings.NewReplacer("{id}", `"m7"`, "{value}", `"red"`).Replace(sentence),
		}}
	}
}

// TestARepeatOfAnOpenAIClientAfterKill9JoinsItsRun kills the server between
// the acceptance of a message and its answer. What OpenAI's clients then send
// by themselves is answered with the same run.
func TestARepeatOfAnOpenAIClientAfterKill9JoinsItsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words string
		taken func(p *process, d *depot)
		says  string
	}{
		"killed while a read is under way": {`inspect crate "k1"`, func(p *process, d *depot) { d.awaitSlow(p.t) }, "k1"},
		"killed while a gate is shown":     {`label crate "k1" as "blue"`, func(p *process, _ *depot) { p.openGates(1) }, "Somebody else has to approve it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProcess(t)
			d := newDepot(t, "depot", spoken)
			p.register(d.registration())
			first := make(chan chatted, 1)
			go func() { first <- p.chat(c.words, "0") }()
			c.taken(p, d)
			p.kill()
			<-first // an error, or an answer that came just in time
			p.start()
			close(d.release)
			again := p.chat(c.words, "1")
			if again.err != nil || again.status != http.StatusOK || !strings.Contains(again.content, c.says) {
				t.Errorf("%+v", again)
			}
			if runs, err := p.rita.Runs(t.Context(), client.RunsFilter{}); err != nil || len(runs) != 1 {
				t.Errorf("%d runs, %v", len(runs), err)
			}
		})
	}
}

func (p *process) openGates(n int) {
	p.t.Helper()
	eventually(p.t, "open gates", func() (int, bool) {
		open, err := p.rita.Gates(p.t.Context(), client.GatesFilter{Status: contracts.InterruptOpen})
		return len(open), err == nil && len(open) == n
	})
}
