package conversation

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// talkOf reports whether a message is no request but small talk or a call for help, and of which
// kind.
func talkOf(words *local.Reader, message string) (local.Talk, bool) {
	if chat.IsGreeting(message) {
		return local.TalkGreeting, true
	}
	if c, ok := chat.Parse(message); ok && c.Verb == chat.Help {
		return helps, true
	}
	return words.SmallTalk(message)
}

// helps is the kind of a message that is only the word "help"; it is never a request.
const helps local.Talk = "help"

// asksAbout reports whether a capability may give a better answer than a fixed text: who somebody
// is, what something does.
func asksAbout(kind local.Talk) bool {
	return kind == local.TalkAsker || kind == local.TalkAbout
}

// talkAtQuestion answers small talk while a question is open, and displays the question again. If
// the question accepts free text, it does nothing.
func (r *classifier) talkAtQuestion(who access.Principal, message string, q contracts.Interrupt, t orchestrator.Turn) (orchestrator.Turn, bool) {
	if freeText(q) {
		return t, false
	}
	kind, ok := r.local.SmallTalk(message)
	said := answer.Talk(who, kind)
	if !ok || said == "" {
		return t, false
	}
	return show(t, q, chat.Escape(said)), true
}

// talk returns the answer to small talk.
func (m *machine) talk(t orchestrator.Turn, kind local.Talk) *contracts.Answer {
	catalog := m.catalogs.Catalog()
	if kind == local.TalkGreeting {
		return answer.Greeting(catalog, t.By, t.Model)
	}
	if kind == local.TalkAbout || kind == helps {
		return answer.Overview(catalog, t.By, t.Model)
	}
	return &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockText, Text: answer.Talk(t.By, kind)}}}
}
