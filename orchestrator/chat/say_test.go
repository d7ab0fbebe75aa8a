package chat_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

func TestEverySentenceIsSaidInEveryLanguage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("say.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]string
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	fixed := regexp.MustCompile("%[sd]|`[^`]*`|CODE")
	for english, texts := range all {
		for _, language := range []string{"de", "es", "fr", "it", "pt"} {
			if texts[language] == "" {
				t.Errorf("%q is not said in %s", english, language)
			}
			if got, want := fixed.FindAllString(texts[language], -1), fixed.FindAllString(english, -1); !slices.Equal(got, want) {
				t.Errorf("%s has %q where the English has %q", language, got, want)
			}
		}
	}
	if got := chat.Translate("xx", "You are welcome."); got != "You are welcome." {
		t.Errorf("a language that is not known says %q", got)
	}
}

func TestAGateIsReadInTheAskersLanguage(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Code: "7K3Q2", Prompt: "Set alert in Finance? above: 250", Requesters: []string{"rita"}, RiskLevel: contracts.RiskMedium,
		Action: &contracts.Action{Parameters: map[string]any{"above": 250.0}, Utterance: &contracts.Utterance{Text: "avise-me", Values: map[string]contracts.Provenance{"above": contracts.FromAnswer}}},
	}
	shown := chat.Compose(orchestrator.SessionView{Language: "pt", Notice: "I could not take that as an answer.", Open: []contracts.Interrupt{gate}}, chat.Frame{})
	for _, want := range []string{"Não consegui entender", "| dado | valor |", "250 (respondido)", "Dito: “avise-me”.", "Pedido por: rita.", "Outra pessoa tem de aprovar", "`withdraw 7K3Q2`"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
}
