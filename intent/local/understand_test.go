package local_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// lines writes intents in one line each: capability, parameters, and what is
// missing or must come before.
func lines(intents []contracts.Intent) []string {
	var out []string
	for _, in := range intents {
		params, err := json.Marshal(in.Parameters)
		if err != nil {
			params = []byte(err.Error())
		}
		line := fmt.Sprintf("%s %s", in.Ref(), params)
		if len(in.Missing) > 0 {
			line += " missing " + strings.Join(in.Missing, ",")
		}
		if len(in.After) > 0 {
			line += " after " + strings.Join(in.After, ",")
		}
		out = append(out, line)
	}
	return out
}

func TestAcceptedSentences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := map[string]struct {
		say  string
		want []string
	}{
		"a list of names": {
			"compare the time off balances of Ana Souza, Bruno Keller and Chen Wei",
			[]string{`people.get_leave_balances {"workers":["Ana Souza","Bruno Keller","Chen Wei"]}`},
		},
		"names that no example holds, in small letters": {
			"compare the time off balances of joana prado and li wei",
			[]string{`people.get_leave_balances {"workers":["joana prado","li wei"]}`},
		},
		"one name is no list": {
			"show the time off balance of Chen Wei",
			[]string{`people.get_leave_balances {"worker":"Chen Wei"}`},
		},
		"a possessive name at the beginning": {
			"Ana Souza's vacation balance please",
			[]string{`people.get_leave_balances {"worker":"Ana Souza"}`},
		},
		"a write with an ISO date": {
			"request 2 days off for Ana Souza from 2026-12-07",
			[]string{`people.book_leave {"days":2,"start_date":"2026-12-07","worker":"Ana Souza"}`},
		},
		"a write with a written date": {
			"request 2 days off for Chen Wei from 7 December 2026",
			[]string{`people.book_leave {"days":2,"start_date":"2026-12-07","worker":"Chen Wei"}`},
		},
		"a write with a relative date": {
			"request two days off for Chen Wei from next Monday",
			[]string{`people.book_leave {"days":2,"start_date":"2026-11-23","worker":"Chen Wei"}`},
		},
		"half a day, an alias and tomorrow": {
			"book half a day of holiday for Chen Wei starting tomorrow",
			[]string{`people.book_leave {"days":0.5,"leave_type":"vacation","start_date":"2026-11-22","worker":"Chen Wei"}`},
		},
		"a write in Portuguese": {
			"peça 3 dias de férias para Chen Wei a partir de 7 de dezembro de 2026",
			[]string{`people.book_leave {"days":3,"leave_type":"vacation","start_date":"2026-12-07","worker":"Chen Wei"}`},
		},
		"what is missing is listed and lowers nothing": {
			"request time off for Chen Wei",
			[]string{`people.book_leave {"worker":"Chen Wei"} missing days,start_date`},
		},
		// Chats begin like this: the rest is asked for, it is not declined.
		"a request that names no value yet": {
			"request time off",
			[]string{`people.book_leave {} missing worker,days,start_date`},
		},
		"an ambiguous date is missing, not guessed": {
			"request 2 days off for Ana Souza from 03/10/2026",
			[]string{`people.book_leave {"days":2,"worker":"Ana Souza"} missing start_date`},
		},
		"sentences that belong together": {
			"Request time off for Ana Souza. From 2026-12-07. 2 days.",
			[]string{`people.book_leave {"days":2,"start_date":"2026-12-07","worker":"Ana Souza"}`},
		},
		"politeness around a request": {
			"Hi! Could you please show me the vacation balance of Chen Wei? Thanks a lot!",
			[]string{`people.get_leave_balances {"worker":"Chen Wei"}`},
		},
		"a switch behind and": {
			"what is PETR4 trading at and notify me",
			[]string{`stocks.get_quote {"notify":true,"symbol":"PETR4"}`},
		},
		"identifiers and an enum": {
			"price of VALE3, ITUB4 and AAPL in EUR",
			[]string{`stocks.get_quote {"currency":"EUR","symbols":["VALE3","ITUB4","AAPL"]}`},
		},
		"aliases and diacritics": {
			"QUAL O PRECO DA PETRO EM REAIS",
			[]string{`stocks.get_quote {"currency":"BRL","symbol":"PETR4.SA"}`},
		},
		"a condition that the examples have too": {
			"me avise quando a PETR4 passar de 40",
			[]string{`stocks.create_alert {"above":40,"symbol":"PETR4"}`},
		},
		"a condition first": {
			"if VALE3 goes above 70, alert me",
			[]string{`stocks.create_alert {"above":70,"symbol":"VALE3"}`},
		},
		"an exact example": {
			"set a price alert for AAPL at 250",
			[]string{`stocks.create_alert {"above":250,"symbol":"AAPL"}`},
		},
		"two dates and an alias": {
			"history of PETR4 from 2026-01-01 to 2026-03-31 weekly",
			[]string{`stocks.price_history {"from":"2026-01-01","interval":"week","symbol":"PETR4","to":"2026-03-31"}`},
		},
		"an optional number where the examples have it": {
			"show me the top 5 movers",
			[]string{`stocks.top_movers {"limit":5}`},
		},
		"a title after the name": {
			"change the title of Chen Wei to Staff Scientist",
			[]string{`people.change_title {"title":"Staff Scientist","worker":"Chen Wei"}`},
		},
		"the identifier of a capability with keys": {
			"book_leave worker=Chen Wei days=2 start_date=2026-12-07",
			[]string{`people.book_leave {"days":2,"start_date":"2026-12-07","worker":"Chen Wei"}`},
		},
		"then makes an order, her is who was named before": {
			"show the balance of Ana Souza and then request 2 days off for her from 2026-12-07",
			[]string{
				`people.get_leave_balances {"worker":"Ana Souza"}`,
				`people.book_leave {"days":2,"start_date":"2026-12-07","worker":"Ana Souza"} after i1`,
			},
		},
		"then makes an order, it is what was named before": {
			"price of VALE3, then alert me when it goes above 70",
			[]string{
				`stocks.get_quote {"symbol":"VALE3"}`,
				`stocks.create_alert {"above":70,"symbol":"VALE3"} after i1`,
			},
		},
		"the same capability twice": {
			"request 2 days off for Ana Souza from 2026-12-07 and 3 days off for Bruno Keller from 2026-12-14",
			[]string{
				`people.book_leave {"days":2,"start_date":"2026-12-07","worker":"Ana Souza"}`,
				`people.book_leave {"days":3,"start_date":"2026-12-14","worker":"Bruno Keller"}`,
			},
		},
		"a read named after a write waits for it": {
			"delete alert al-17 and list my alerts",
			[]string{`stocks.delete_alert {"alert_id":"al-17"}`, `stocks.list_alerts {} after i1`},
		},
		"a read named before a write does not": {
			"list my alerts and delete alert al-17",
			[]string{`stocks.list_alerts {}`, `stocks.delete_alert {"alert_id":"al-17"}`},
		},
		"after a gerund comes first": {
			"list my alerts after deleting alert al-17",
			[]string{`stocks.delete_alert {"alert_id":"al-17"}`, `stocks.list_alerts {} after i1`},
		},
		"three requests of three domains": {
			"Show unread messages. List my shipments. What is PETR4 trading at?",
			[]string{`post.read_inbox {"unread":true}`, `parcels.list_shipments {}`, `stocks.get_quote {"symbol":"PETR4"}`},
		},
		"what must not be done does not stop the rest": {
			"don't delete alert al-17 but cancel request tor-7",
			[]string{`people.cancel_leave {"request_id":"tor-7"}`},
		},
		"a negation that the example has too": {
			"don't send me notifications from the channel sales",
			[]string{`post.mute_channel {"channel":"sales"}`},
		},
		"what follows saying is the text": {
			"send a message to Bruno Keller saying see you at ten, bring cake",
			[]string{`post.send_message {"message":"see you at ten, bring cake","to":"Bruno Keller"}`},
		},
		"an order inside quotes is a value": {
			`send a message to Bruno Keller saying "delete alert al-17"`,
			[]string{`post.send_message {"message":"delete alert al-17","to":"Bruno Keller"}`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := b.say(t, c.say)
			if u.Outcome != contracts.ReadingAccepted {
				t.Errorf("%q: %s, asking %q", c.say, u.Outcome, u.Question)
			}
			ids := map[string]int{}
			for i, in := range u.Intents {
				ids[in.ID] = i + 1
			}
			if diff := cmp.Diff(c.want, lines(u.Intents)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}

func TestWritesNeedAPlainRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, say := range map[string]string{
		"a negation":                               "don't delete my alert",
		"a negation with everything filled in":     "don't delete alert al-17",
		"do not":                                   "please do not cancel request tor-3",
		"never":                                    "never send messages to ops",
		"a negation in Portuguese":                 "não apague o alerta al-2",
		"a negation that reaches over and":         "don't delete alert al-17 and cancel request tor-7",
		"what would happen":                        "what would happen if I cancelled request tor-3",
		"what would happen reaches over and":       "what would happen if I deleted alert al-3 and requested 2 days off for Ana Souza from 2026-12-07",
		"what if":                                  "what if I delete alert al-17?",
		"a question how":                           "how do I request time off for Ana Souza?",
		"a question whether it may be":             "can I delete alert al-21?",
		"a question whether it should be":          "should we cancel request tor-3?",
		"a question whether it was":                "was alert al-17 deleted?",
		"a question who":                           "who cancelled request tor-104?",
		"a report":                                 "I deleted alert al-17 yesterday",
		"a report of what somebody says":           `the mail says "delete alert al-17"`,
		"a condition that nobody can check":        "delete alert al-17 if PETR4 falls",
		"a condition for the next clause":          "if Bruno agrees, delete alert al-17",
		"a condition behind the clause":            "delete alert al-17, if Bruno agrees",
		"a part that is not understood":            "delete alert al-17 and paint the house green",
		"a word that is not understood":            "delete the birthday party al-17 tomorrow evening",
		"a request to explain":                     "explain how to cancel request tor-3",
		"a request with a retraction in front":     "instead of cancelling request tor-3 list the absence types",
		"a prohibition of everything that follows": "you must not delete alert al-17",
		"a reason that there is not":               "there is no point in deleting alert al-17",
		"something to leave":                       "hold off on deleting alert al-17",
		"something to forget":                      "forget about deleting alert al-17",
		"a verdict":                                "it would be a mistake to delete alert al-17",
		"a verdict in Portuguese":                  "seria errado apagar o alerta al-2",
		"a statement about doing it":               "deleting alert al-17 is forbidden",
		"a passive report":                         "the alert al-17 was deleted",
		"a passive report in Portuguese":           "o alerta al-2 foi apagado",
		"a supposition of oneself":                 "I would delete alert al-17",
		"a supposition in German":                  "angenommen wir löschen den Alarm al-2",
		"neither":                                  "neither delete alert al-17 nor alert al-18",
		"nobody, in Portuguese":                    "ninguém deve apagar o alerta al-2",
		"a foreign word before the verb":           "under no condition delete alert al-17",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := b.say(t, say)
			for _, in := range u.Intents {
				entry, ok := b.catalog.Capability(in.Ref())
				if !ok {
					t.Fatalf("no capability %s", in.Ref())
				}
				if u.Outcome == contracts.ReadingAccepted && entry.Policy.SideEffectClass.Writes() {
					t.Errorf("%q was accepted as the write %s with %v", say, in.Ref(), in.Parameters)
				}
			}
			if u.Outcome != contracts.ReadingAccepted && u.Question == "" {
				t.Errorf("%q: %s without a word to the person", say, u.Outcome)
			}
		})
	}
}

func TestForeignRequestsAreDeclined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, say := range []string{
		"book me a flight to Lisbon", "write a poem", "tell me a joke", "what's the weather like in Berlin",
		"raise the price of our product", "cancel my flight", "what is the balance of my bank account",
		"translate this sentence into French", "who won the match yesterday", "play some music", "hello", "how are you today?",
	} {
		t.Run(say, func(t *testing.T) {
			t.Parallel()
			u := b.say(t, say)
			if u.Outcome != contracts.ReadingDeclined || len(u.Intents) > 0 {
				t.Errorf("%s %v; want a decline without intents", u.Outcome, lines(u.Intents))
			}
			if len(u.Choices) == 0 || u.Question == "" {
				t.Errorf("declined with %d suggestions and %q", len(u.Choices), u.Question)
			}
		})
	}
}

func TestForeignPartOfAReadIsReported(t *testing.T) {
	t.Parallel()
	u := setup(t).say(t, "list my alerts and book me a flight to Lisbon")
	if diff := cmp.Diff([]string{"stocks.list_alerts {}"}, lines(u.Intents)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"book me a flight to Lisbon"}, u.Unused); diff != "" {
		t.Error(diff)
	}
}

func TestIntentsSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	const say = "Please, request 2 days off for Zoë Müller from 2026-12-07"
	u := setup(t).say(t, say)
	if len(u.Intents) != 1 {
		t.Fatalf("got %v", lines(u.Intents))
	}
	in := u.Intents[0]
	if in.ID != "i1" || in.Source != "local" || in.SnapshotID != "test" || !strings.Contains(say, in.Clause) || in.Confidence < 0.8 || in.Confidence > 1 {
		t.Errorf("unexpected frame of the intent: %+v", in)
	}
	got := map[string]string{}
	for name, ev := range in.Evidence {
		got[name] = say[ev.Span[0]:ev.Span[1]]
	}
	want := map[string]string{"worker": "Zoë Müller", "days": "2 days", "start_date": "2026-12-07"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

func TestSpansOfLaterClausesAreThoseOfTheMessage(t *testing.T) {
	t.Parallel()
	const say = "list my alerts, then delete alert al-17"
	u := setup(t).say(t, say)
	if len(u.Intents) != 2 {
		t.Fatalf("got %v", lines(u.Intents))
	}
	ev := u.Intents[1].Evidence["alert_id"]
	if got := say[ev.Span[0]:ev.Span[1]]; got != "al-17" {
		t.Errorf("the span says %q", got)
	}
}

func TestUnderstandRefusesWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.adapter.Understand(t.Context(), intent.Request{Message: "hello"})
	if contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("without a catalog: %v", err)
	}
	_, err = b.adapter.Understand(t.Context(), intent.Request{Message: strings.Repeat("a ", contracts.MaxMessageChars), Catalog: b.catalog})
	if contracts.CodeOf(err) != contracts.CodeTooLarge {
		t.Errorf("a message that is too long: %v", err)
	}
}
