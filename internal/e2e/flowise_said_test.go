package e2e_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// TestWhatASentenceSaysReachesTheGate: the version, server and folder that are named are
// parameters of the write that is asked about; what is not understood or cannot be
// honoured is asked about or refused, and no gate opens that is silent about it.
func TestWhatASentenceSaysReachesTheGate(t *testing.T) {
	t.Parallel()
	endpoint, key := flowiseServers()["in memory"](t)
	s := startSite(t)
	w := newFlowiseWorld(t, endpoint, key)
	s.register(contracts.Registration{Domain: "flowise", URL: w.url})
	w.build()
	s.told(`ask the chatflow "Greeter": "Hello?"`)
	for sentence, want := range map[string]struct {
		capability string
		parameters map[string]string // a part of each
		shows      string            // stands in what the gate shows
	}{
		`roll back the Support Bot to version 1`:                                                  {"flowise.rollback_chatflow", map[string]string{"version": "1"}, "You help customers"},
		`delete all messages of the Greeter`:                                                      {"flowise.delete_messages", nil, "Greeter"},
		`create a chatflow called "Desk" on staging that replies "Hi"`:                            {"flowise.create_chatflow", map[string]string{"instance": "staging", "reply": "Hi"}, ""},
		`create a chatflow called "Desk" in the folder "HR" that replies "Hi"`:                    {"flowise.create_chatflow", map[string]string{"category": "HR"}, ""},
		`create a conversation chatflow called "Team desk" with the Team OpenAI credential`:       {"flowise.create_chatflow", map[string]string{"name": "Team desk", "credential": "Team OpenAI"}, ""},
		`create a chatflow called "Model desk" with gpt-4.1 and the Other OpenAI credential`:      {"flowise.create_chatflow", map[string]string{"name": "Model desk", "model": "gpt-4.1", "credential": "Other OpenAI"}, ""},
		`create a chatflow "Returns" using the Other OpenAI credential`:                           {"flowise.create_chatflow", map[string]string{"name": "Returns", "credential": "Other OpenAI"}, ""},
		`add the calculator to the Sales agent`:                                                   {"flowise.add_tool", nil, "Sales agent"},
		`create a conversation chatflow called "Claude desk" that uses Claude`:                    {},
		`deploy the Greeter on production`:                                                        {},
		`delete the chatflow "Weekly RAG"`:                                                        {},
		`create a conversation chatflow called "Lost desk" with the credential "Nobody's OpenAI"`: {},
	} {
		gate, said := s.stopsAt(sentence)
		switch {
		case want.capability == "" && gate != nil:
			t.Errorf("%s: a gate for %s", sentence, asJSON(gate.Action))
		case want.capability == "":
			if !strings.HasPrefix(said, "asked: ") && !strings.HasPrefix(said, string(contracts.RunFailed)+": ") {
				t.Errorf("%s: neither a question nor a refusal: %s", sentence, said)
			}
		case gate == nil:
			t.Errorf("%s: no gate, but %s", sentence, said)
		case gate.Action.Capability != want.capability:
			t.Errorf("%s: a gate for %s", sentence, gate.Action.Capability)
		default:
			for name, part := range want.parameters {
				if got, _ := gate.Action.Parameters[name].(string); !strings.Contains(got, part) {
					t.Errorf("%s: %s is %v", sentence, name, gate.Action.Parameters[name])
				}
			}
			if shown := gate.Prompt + asJSON(gate.Evidence) + asJSON(gate.Action); !strings.Contains(shown, want.shows) {
				t.Errorf("%s: the gate does not show %q:\n%s", sentence, want.shows, shown)
			}
		}
	}
}

// TestASentenceEditOfAFlowShowsItsDifference: every kind of edit that people say comes to
// its gate, which shows what would change; nothing is written before. What cannot be done
// as it is said is refused or asked about, in words that say how.
func TestASentenceEditOfAFlowShowsItsDifference(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			s := startSite(t)
			w := newFlowiseWorld(t, endpoint, key)
			s.register(contracts.Registration{Domain: "flowise", URL: w.url})
			w.bot, w.greeter = "Harbour Bot", "Harbour Porter" // the real server is shared, and others have a Support Bot and a Greeter
			w.make()
			for sentence, want := range map[string][]string{
				`set the temperature of the Harbour Bot to 0.1`:                                            {"set_temperature", "chatOpenAI_0.temperature: 0.9 → 0.1"},
				`change the model of the Harbour Bot to gpt-4o-mini`:                                       {"set_model", "chatOpenAI_0.modelName: gpt-4o → gpt-4o-mini"},
				`change the prompt of the Harbour Bot to "Be brief"`:                                       {"set_prompt", "conversationChain_0.systemMessagePrompt: Help them well → Be brief"},
				`replace the node "Buffer Memory" of the chatflow "Harbour Bot" by "Buffer Window Memory"`: {"replace_node", "new: bufferWindowMemory_0", "gone: bufferMemory_0", "bufferWindowMemory_0.bufferWindowMemory -> conversationChain_0.memory"},
				`swap the buffer memory in "Harbour Bot" for a buffer window memory`:                       {"replace_node", "new: bufferWindowMemory_0", "gone: bufferMemory_0"},
				`replace the buffer memory of the Harbour Bot with a conversation summary memory`:          {"replace_node", "new: conversationSummaryMemory_0", "2 connections added"},
				`add the calculator to the Sales agent`:                                                    {"add_tool", "new: calculator_0", "calculator_0.calculator -> toolAgent_0.tools"},
				`add OpenAI moderation to the Harbour Bot with the credential "Team OpenAI"`:               {"add_moderation", "new: inputModerationOpenAI_0", "inputModerationOpenAI_0.inputModerationOpenAI -> conversationChain_0.inputModeration"},
				`add a simple prompt moderation to the Harbour Bot that refuses "refund, chargeback"`:      {"add_moderation", "new: inputModerationSimple_0", "refund, chargeback"},
				`set the parameter maxTokens of the Harbour Bot to 300`:                                    {"set_parameter", "chatOpenAI_0.maxTokens: → 300"},
				`set the parameter "temperature" of the Helper to 0.3`:                                     {"set_parameter", "chatOpenAI_0.temperature: 0.9 → 0.3"},
				`let the FAQ RAG answer from https://docs.example.org/opening`:                             {"set_source", "new: cheerioWebScraper_0", "gone: plainText_0"},
				`change the reply of the Harbour Porter to "Good day"`:                                     {"set_reply", "Hello → Good day"},
				`rename the chatflow "Onboarding" to "Welcome"`:                                            {"rename_chatflow", "Welcome"},
				`add a moderation to the Harbour Bot`:                                                      {"asked", "Which moderation?"},
				`add a simple prompt moderation to the Harbour Bot`:                                        {"failed", "needs the words that it shall refuse"},
				`replace the node Plain Text of the chatflow "FAQ RAG" by Text File`:                       {"failed", "needs a value for txtFile"},
			} {
				gate, said := s.stopsAt(sentence)
				if gate != nil {
					said = strings.TrimPrefix(gate.Action.Capability, "flowise.") + " " + gate.Prompt + strings.ReplaceAll(asJSON(gate.Evidence), `\u003e`, ">")
				}
				if !strings.HasPrefix(said, want[0]) {
					t.Errorf("%s: %s", sentence, said)
					continue
				}
				for _, line := range want[1:] {
					if !strings.Contains(said, line) {
						t.Errorf("%s: it does not show %q: %s", sentence, line, said)
					}
				}
			}
		})
	}
}

// stopsAt returns the approval that a sentence comes to, or what is said instead: a
// question, a refusal or an answer.
func (s *site) stopsAt(sentence string) (gate *contracts.Interrupt, said string) {
	s.t.Helper()
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		if r.Interrupt != nil {
			return nil, "asked: " + r.Interrupt.Prompt
		}
		return nil, textOf(r.Answer)
	}
	view := eventually(s.t, "a stop of "+sentence, func() (contracts.RunView, bool) {
		view, err := s.rita.Run(s.t.Context(), r.RunIDs[0], client.Opt{})
		return view, err == nil && (view.State.Terminal() || len(view.Interrupts) > 0)
	})
	for _, i := range view.Interrupts {
		switch {
		case i.Status != contracts.InterruptOpen:
		case i.Type == contracts.InterruptWriteApproval:
			return &i, ""
		default:
			return nil, "asked: " + i.Prompt
		}
	}
	for _, n := range view.Nodes {
		if n.Error != nil {
			said += n.Error.Message + " "
		}
	}
	return nil, string(view.State) + ": " + said
}
