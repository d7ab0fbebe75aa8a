package local_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/internal/sample"
)

// sound checks what must hold of any understanding of any message.
func sound(tb testing.TB, b bundle, message string, u intent.Understanding) {
	tb.Helper()
	ids := map[string]bool{}
	for _, in := range u.Intents {
		if _, ok := b.catalog.Capability(in.Ref()); !ok {
			tb.Errorf("%q: no capability %s", message, in.Ref())
		}
		if in.Confidence < 0 || in.Confidence > 1 {
			tb.Errorf("%q: confidence %g", message, in.Confidence)
		}
		for _, before := range in.After {
			if !ids[before] {
				tb.Errorf("%q: %s waits for %s, which is not before it", message, in.ID, before)
			}
		}
		ids[in.ID] = true
		if len(in.Evidence) != len(in.Parameters) {
			tb.Errorf("%q: %d parameters with evidence for %d", message, len(in.Parameters), len(in.Evidence))
		}
		for name, ev := range in.Evidence {
			if ev.Span[0] < 0 || ev.Span[0] >= ev.Span[1] || ev.Span[1] > len(message) || ev.P <= 0 || ev.P > 1 || ev.Kind == "" {
				tb.Errorf("%q: evidence of %s is %+v", message, name, ev)
			}
		}
		raw, err := json.Marshal(in.Parameters)
		if err != nil || !utf8.Valid(raw) {
			tb.Errorf("%q: parameters %v: %v", message, in.Parameters, err)
		}
	}
	if u.Outcome == contracts.ReadingAccepted && len(u.Intents) == 0 {
		tb.Errorf("%q: accepted without an intent", message)
	}
	if !utf8.ValidString(u.Question) || strings.ContainsAny(u.Question, "\x00\x1b\n") {
		tb.Errorf("%q: the question %q is not clean", message, u.Question)
	}
}

func TestHostileMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const limit = contracts.MaxMessageChars
	for name, message := range map[string]string{
		"nothing":              "",
		"white space":          " \t\r\n\u00a0\u2003",
		"signs only":           "?!... -- ;;; ((( \"\" '' 🙂🙂",
		"control characters":   "delete\x00alert\x07 al-17\x1b[31m",
		"no UTF-8":             "price of \xff\xfe VALE3 \xc3",
		"invisible characters": "pri\u200bce of\u2060 VALE3\u202e",
		"one long word":        strings.Repeat("a", limit),
		"one long number":      strings.Repeat("7", limit),
		"many words":           strings.Repeat("price ", limit/6),
		"many requests":        strings.Repeat("list my alerts. ", limit/16),
		"many separators":      strings.Repeat("and ", limit/4),
		"many commas":          strings.Repeat("VALE3,", limit/6),
		"many names":           "balance of " + strings.Repeat("Ana Souza, ", limit/12),
		"many keys":            strings.Repeat("days=2 ", limit/8),
		"many open keys":       strings.Repeat("a=", limit/2),
		"many quotes":          strings.Repeat("\"a\" '", limit/5),
		"open brackets":        "symbols: " + strings.Repeat("[", limit-20),
		"many dates":           strings.Repeat("2026-12-07 ", limit/11),
		"many numbers":         strings.Repeat("1 ", limit/2),
		"many capitals":        strings.Repeat("Aa Bb ", limit/6),
		"combining marks":      "e" + strings.Repeat("\u0301", limit-1),
		"wide characters":      strings.Repeat("株価を教えて", limit/6),
		"right to left":        "اعرض رصيد Ana Souza من فضلك",
		"ligatures that grow":  strings.Repeat("\ufdfa", 2000),
		"a date beyond time":   "request 2 days off for Ana Souza in 99999999 years",
		"an infinite number":   "set a price alert for AAPL at 1e999999999 or " + strings.Repeat("9", 500) + "k",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sound(t, b, message, b.say(t, message))
		})
	}
}

func TestWhatHidesInAMessageIsStillRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct{ say, want string }{
		"invisible characters":   {"delete al\u200bert al-17", `stocks.delete_alert {"alert_id":"al-17"}`},
		"control characters":     {"delete\x00alert\x07 al-17", `stocks.delete_alert {"alert_id":"al-17"}`},
		"compatibility forms":    {"ｄｅｌｅｔｅ alert al-17", `stocks.delete_alert {"alert_id":"al-17"}`},
		"capitals all the way":   {"DELETE ALERT AL-17", `stocks.delete_alert {"alert_id":"AL-17"}`},
		"a misspelled word":      {"delte alert al-17", `stocks.delete_alert {"alert_id":"al-17"}`},
		"broken bytes in a name": {"show the time off balance of Chen \xffWei", `people.get_leave_balances {"worker":"Chen Wei"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := b.say(t, c.say)
			if diff := cmp.Diff([]string{c.want}, lines(u.Intents)); diff != "" || u.Outcome != contracts.ReadingAccepted {
				t.Errorf("%q: %s (-want +got):\n%s", c.say, u.Outcome, diff)
			}
		})
	}
}

func TestScriptsWithoutSpaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.catalog = catalogOf("cjk", &contracts.Manifest{Domain: "kabu", Capabilities: []contracts.Capability{
		{
			Name: "quote", Description: "株価", Schema: []byte(`{"type":"object","properties":{"symbol":{"type":"string"}},"required":["symbol"]}`),
			Metadata: contracts.Metadata{
				SideEffectClass: contracts.ClassRead,
				IntentHints:     &contracts.IntentHints{Examples: []string{"トヨタの株価を教えて", "今日の株価はいくら", "株価を見せて"}},
				ParameterSpecs:  map[string]contracts.ParameterSpec{"symbol": {Aliases: map[string]any{"トヨタ": "7203.T", "ソニー": "6758.T"}}},
			},
		},
		{
			Name: "weather", Description: "天気", Schema: []byte(`{"type":"object"}`),
			Metadata: contracts.Metadata{
				SideEffectClass: contracts.ClassRead,
				IntentHints:     &contracts.IntentHints{Examples: []string{"明日の天気を教えて", "天気予報を見せて", "東京の天気はどう"}},
			},
		},
	}})
	u := b.say(t, "ソニーの株価を教えて")
	if diff := cmp.Diff([]string{`kabu.quote {"symbol":"6758.T"}`}, lines(u.Intents)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", u.Outcome, diff)
	}
}

func TestTenThousandCapabilities(t *testing.T) {
	t.Parallel()
	sample.Computes(t)
	if testing.Short() {
		t.Skip("builds a large index")
	}
	b := setup(t)
	b.catalog = generated(10000, 3)
	last := b.catalog.Domains[0].Capabilities[3]
	u := b.say(t, last.Capability.Metadata.IntentHints.Examples[0])
	if len(u.Intents) == 0 || u.Intents[0].Ref() != last.Ref() {
		t.Errorf("an example among 10,000 capabilities: %s %v", u.Outcome, lines(u.Intents))
	}
}

func TestAnEmptyCatalogDeclines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.catalog = contracts.NewCatalog("empty", nil, nil)
	if u := b.say(t, "list my alerts"); u.Outcome != contracts.ReadingDeclined || len(u.Choices) > 0 {
		t.Errorf("%s with %v", u.Outcome, u.Choices)
	}
}

func TestTheSameWordsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	sample.Computes(t)
	messages := []string{
		"show the balance of Ana Souza and then request 2 days off for her from 2026-12-07",
		"price of it", "cancel", "what would happen if I deleted alert al-3", "something else entirely",
	}
	understand := func() string {
		b := setup(t) // a fresh index each time
		var out strings.Builder
		for _, m := range messages {
			raw, err := json.Marshal(b.say(t, m))
			if err != nil {
				t.Fatal(err)
			}
			out.Write(raw)
		}
		return out.String()
	}
	first := understand()
	for range 10 {
		if diff := cmp.Diff(first, understand()); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestSnapshotsAreKeptApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	people, stocks := catalogOf("a", readManifest(t, "people")), catalogOf("b", readManifest(t, "stocks"))
	for range 3 {
		for i := range 6 { // more snapshots than are kept
			b.catalog = catalogOf(fmt.Sprint("many", i), readManifest(t, "post"))
			b.say(t, "read my messages")
		}
		b.catalog = people
		if u := b.say(t, "list my alerts"); len(u.Intents) > 0 {
			t.Errorf("found %v in a catalog without alerts", lines(u.Intents))
		}
		b.catalog = stocks
		if u := b.say(t, "list my alerts"); len(u.Intents) != 1 || u.Intents[0].SnapshotID != "b" {
			t.Errorf("found %v", lines(u.Intents))
		}
	}
}

func TestManyCallersShareAnAdapter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			own := b
			own.catalog = catalogOf(fmt.Sprint("shared", i%3), readManifest(t, "stocks"), readManifest(t, "people"))
			u := own.say(t, "price of VALE3 and delete alert al-17")
			want := []string{`stocks.get_quote {"symbol":"VALE3"}`, `stocks.delete_alert {"alert_id":"al-17"}`}
			if diff := cmp.Diff(want, lines(u.Intents)); diff != "" {
				t.Error(diff)
			}
		})
	}
	wg.Wait()
}

func TestRelativeDatesFollowThePersonsPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tokyo := time.FixedZone("JST", 9*3600)
	req := intent.Request{
		Message: "request 2 days off for Ana Souza from tomorrow", Catalog: b.catalog,
		Now: time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC), Location: tokyo,
	}
	u, err := b.adapter.Understand(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Intents) != 1 || u.Intents[0].Parameters["start_date"] != "2026-11-23" {
		t.Errorf("in Tokyo it is the 22nd, tomorrow was read as %v", lines(u.Intents))
	}
	req.Now = time.Time{}
	u, err = b.adapter.Understand(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Intents) != 1 || u.Intents[0].Parameters["start_date"] != nil {
		t.Errorf("without a clock tomorrow was read as %v", lines(u.Intents))
	}
}

func FuzzUnderstand(f *testing.F) {
	for _, seed := range []string{
		"compare the time off balances of Ana Souza, Bruno Keller and Chen Wei", "request 2 days off for Ana Souza from 2026-12-07",
		"price of VALE3, then alert me when it goes above 70", "don't delete alert al-17 if \"x\" and 'y'", "symbols: [\"A\", B] currency=EUR\x00\xff",
		"七月の株価 ٣ ½ ﷺ", "after deleting al-1 before 10:30pm on 1.000,50% R$ 40k", "{\"worker\":\"A\",\"days\":\"half a day\"}",
	} {
		f.Add(seed)
	}
	b := setup(f)
	f.Fuzz(func(t *testing.T, message string) {
		if utf8.RuneCountInString(message) > contracts.MaxMessageChars {
			t.Skip()
		}
		sound(t, b, message, b.say(t, message))
	})
}
