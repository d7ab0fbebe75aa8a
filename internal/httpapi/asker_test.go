package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/internal/app"
)

// heard starts a session and continues it; it returns all texts of the last response.
func heard(t *testing.T, who *client.Client, says ...string) (contracts.SessionResponse, string) {
	t.Helper()
	session, err := who.StartSession(t.Context(), contracts.StartSession{Message: says[0]}, wait())
	for _, words := range says[1:] {
		if err == nil {
			session, err = who.Say(t.Context(), session.SessionID, words, wait())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(session)
	if err != nil {
		t.Fatal(err)
	}
	return session, string(raw)
}

// TestMyIsTheAskersOwn: a requester who is known to the domain gets their own data without a
// question, in each language of the manifest's examples.
func TestMyIsTheAskersOwn(t *testing.T) {
	t.Parallel()
	s := setup(t, withPeople(t))
	jonas := s.person("Jonas.Keller", "requester")
	for _, says := range []string{
		"what is my time off balance?",
		"how many days off do I have left?",
		"show my time off balance",
		"quantos dias de férias eu ainda tenho?",
		"qual é o meu saldo de férias?",
		"wie viel Urlaub habe ich noch?",
		"wie ist mein Urlaubskonto?",
		"cuántos días de vacaciones me quedan?",
		"cuál es mi saldo de vacaciones?",
		"combien de jours de congé me reste-t-il ?",
		"quel est mon solde de congés ?",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			session, all := heard(t, jonas, says)
			if session.Interrupt != nil || session.Answer == nil || len(session.RunIDs) != 1 || strings.Contains(all, "unauthorized") {
				t.Fatalf("no answer: %s", all)
			}
			run, err := jonas.Run(t.Context(), session.RunIDs[0], client.Opt{})
			if err != nil || run.State != contracts.RunCompleted {
				t.Errorf("the run came to %s %v: %s", run.State, err, all)
			}
		})
	}
	for _, says := range []string{"book me 2026-12-11 off", "I'd like 2 days off from 2026-12-14", "request 1 day off for me on 2026-12-18"} {
		session, all := heard(t, jonas, says)
		if i := session.Interrupt; i == nil || i.Type != contracts.InterruptWriteApproval || !strings.Contains(all, "Jonas Keller") {
			t.Errorf("%s: no gate for Jonas Keller: %s", says, all)
		}
	}
}

// TestDaysOffReachTheirGateWithinOneQuestion: a requester who names the days in common words sees
// them at a gate, after at most one question.
func TestDaysOffReachTheirGateWithinOneQuestion(t *testing.T) {
	t.Parallel()
	begun, monday := time.Now(), time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC)
	s := setup(t, withPeople(t), func(cfg *app.Config) { cfg.Now = func() time.Time { return monday.Add(time.Since(begun)) } })
	jonas := s.person("Jonas.Keller", "requester")
	for _, says := range []string{
		"I'd like next Thursday and Friday off", "I want next Thursday and Friday off please", "queria a próxima quinta e sexta de folga",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			session, all := heard(t, jonas, says)
			if i := session.Interrupt; i != nil && i.Type == contracts.InterruptClarification {
				t.Logf("%s: %s", says, i.Prompt)
				session, all = heard(t, jonas, says, answerTo(i))
			}
			if i := session.Interrupt; i == nil || i.Type != contracts.InterruptWriteApproval || !strings.Contains(all, "Jonas Keller") || !strings.Contains(all, "2 days of Vacation: Thu ") {
				t.Errorf("no gate that shows the days: %s", all)
			}
		})
	}
}

// answerTo returns a person's answer: the choice that requests the days, or the first day.
func answerTo(i *contracts.Interrupt) string {
	for _, o := range i.Options {
		if strings.HasSuffix(o.ID, "request_time_off") {
			return o.Label
		}
	}
	return "2026-11-12"
}

// TestWhoIsNoWorkerIsAskedForWhom: a requester who may access everybody but is not in the domain is
// asked for the person, with the manifest's question, and answers with a name.
func TestWhoIsNoWorkerIsAskedForWhom(t *testing.T) {
	t.Parallel()
	s := setup(t, withPeople(t))
	session, all := heard(t, s.rita, "what is my time off balance?")
	if i := session.Interrupt; i == nil || i.Type != contracts.InterruptClarification || i.Prompt != "Whose balances? One or more names." {
		t.Fatalf("not asked: %s", all)
	}
	if session, all = heard(t, s.rita, "what is my time off balance?", "Carla Mendes"); session.Interrupt != nil || !strings.Contains(all, "Carla Mendes") {
		t.Errorf("not answered: %s", all)
	}
	if session, all = heard(t, s.rita, "what is my time off balance?", "Bruno"); session.Interrupt == nil || session.Interrupt.Prompt != `Which worker is meant by "Bruno"?` {
		t.Errorf("no choice by what was said last: %s", all)
	}
}

// TestTheDomainHoldsWhoAsksAboutWhom: the core's reading grants no access. A stranger sees nothing of
// anybody, not even in a choice; a colleague may not see another's days, a manager those of their
// reports.
func TestTheDomainHoldsWhoAsksAboutWhom(t *testing.T) {
	t.Parallel()
	s := setup(t, withPeople(t))
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	manager := ""
	for _, w := range tenant.People() {
		for _, boss := range tenant.People() {
			if w.Name == "Ana Souza" && boss.ID == w.ManagerID {
				manager = boss.Name
			}
		}
	}
	stranger, colleague, boss := s.person("mallory", "requester"), s.person("Jonas.Keller", "requester"), s.person(strings.ReplaceAll(manager, " ", "."), "requester")
	for _, says := range []string{"what is my time off balance?", "time off balance of Bruno", "find the workers named Bruno", "who reports to " + manager, "who is the manager of Ana Souza", "book Bruno 2026-12-11 off"} {
		session, all := heard(t, stranger, says)
		if session.Interrupt != nil || !strings.Contains(all, "does not know who") || strings.Contains(all, "Bruno Lima") || strings.Contains(all, "Engineer") {
			t.Errorf("a stranger says %q: %s", says, all)
		}
	}
	if session, all := heard(t, colleague, "time off balance of Ana Souza"); session.Interrupt != nil || !strings.Contains(all, "you may ask about yourself") {
		t.Errorf("a colleague: %s", all)
	}
	if _, all := heard(t, boss, "time off balance of Ana Souza"); !strings.Contains(all, "Ana Souza") || strings.Contains(all, "you may ask about") {
		t.Errorf("the manager: %s", all)
	}
}
