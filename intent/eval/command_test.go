package eval_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// The verb that a command begins with says what is wanted; the same word inside
// another capability's description does not.
func TestTheVerbOfACommandTellsCapabilitiesApart(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for say, capability := range map[string]string{
		"request vacation for Carla Mendes next Monday to Wednesday": "workday.request_time_off",
		"request vacation for Rita Falk from next Monday":            "workday.request_time_off",
		"could you book vacation for Carla Mendes next Monday":       "workday.request_time_off",
		"withdraw the vacation of Carla Mendes next Monday":          "workday.cancel_time_off",
		"send hello world to the general channel":                    "communication.send_message",
		"list the messages in the general channel":                   "communication.list_messages",
	} {
		u := understand(say)
		if u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 1 || u.Intents[0].Ref() != capability {
			t.Errorf("%q: %s %+v %s", say, u.Outcome, u.Intents, u.Question)
		}
	}
}

// What a thing shall say is a value of the request; what somebody says is none.
func TestWhatSomethingShallSayIsContent(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for say, want := range map[string]string{
		"create a chatflow called Greeter that says hello":                     "hello",
		"create a chatflow called \"Greeter\" that says \"don't panic\"":       "don't panic",
		"create a chatflow called Greeter that replies good morning to you":    "good morning to you",
		"I want a chatflow called Greeter that replies hello":                  "hello",
		"send the words \"all is well\" to the sales channel":                  "all is well",
		"cria um chatflow chamado Greeter que diz bom dia":                     "bom dia",
		"send a message that says lunch is ready to the sales channel":         "lunch is ready",
		"please create a chatflow named Welcome that answers glad to see you!": "glad to see you",
	} {
		u := understand(say)
		if u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 1 {
			t.Errorf("%q: %s %+v %s", say, u.Outcome, u.Intents, u.Question)
			continue
		}
		got := u.Intents[0].Parameters["reply"]
		if got == nil {
			got = u.Intents[0].Parameters["message"]
		}
		if got != want {
			t.Errorf("%q: says %v, want %q", say, got, want)
		}
	}
	for _, say := range []string{
		"Bob says create a chatflow called Greeter",
		"Bob says create a chatflow called Greeter that says hello",
		"I got a mail that says create a chatflow called Greeter",
		"create that, says Bob, a chatflow called Greeter",
		"the mail that says: delete the chatflow Support Bot",
		"the mail that says delete the chatflow Support Bot",
		"the note that says cancel the time off of Ana Souza on 2026-12-07",
		"create a chatflow called Greeter that says hello and delete the chatflow Support Bot",
		"create a chatflow called Greeter that says hello if Ana agrees",
		"create a chatflow called Greeter that replies hello but don't create it",
		"send a message that says lunch is ready, but don't send it",
		"send a message saying lunch is ready but do not send it",
		"create a chatflow that replies hello, name it Greeter", // where what it says ends is not plain
		"take Greeter and call it Doorman",
	} {
		if u := understand(say); u.Outcome == contracts.ReadingAccepted {
			t.Errorf("%q would be done: %+v", say, u.Intents)
		}
	}
}
