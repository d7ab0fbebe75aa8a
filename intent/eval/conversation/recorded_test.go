package conversation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/manifold-run/manifold/intent/eval/conversation"
)

func readSet(t *testing.T, name string) conversation.Set {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "testdata", "conversations", name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := conversation.Parse(body, today())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func recorded(t *testing.T) conversation.Transcript {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "transcript.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out conversation.Transcript
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// What a server made of conversations, recorded from a demo: two reads side by
// side, a gate, the answer to a question, a corrected gate, nothing done, a
// question that was due, and one that was not.
func TestRecordedConversationsAreGraded(t *testing.T) {
	t.Parallel()
	want := map[string]conversation.Grade{
		"dm-lists-en-02": conversation.Right, "dm-write-en-03": conversation.Right, "dm-answer-to-question-en-02": conversation.Right,
		"dm-correction-en-01": conversation.Right, "dm-negated-en-01": conversation.Right, "dm-missing-en-01": conversation.Right,
		"dm-write-es-11": conversation.Asked,
	}
	r := recorded(t).Grade(readSet(t, "demo.json"))
	if len(r.Rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(r.Rows), len(want))
	}
	for _, row := range r.Rows {
		if row.Grade != want[row.ID] {
			t.Errorf("want %s: %s", want[row.ID], row.Text())
		}
	}
	if r.Total.Gates != 3 || r.Total.Effects != 0 {
		t.Errorf("%d gates, %d effects", r.Total.Gates, r.Total.Effects)
	}
}

// The same gates are silent drops as soon as something else was meant.
func TestRecordedGatesAreSilentDropsWhereSomethingElseWasMeant(t *testing.T) {
	t.Parallel()
	transcript, set := recorded(t), readSet(t, "demo.json")
	for id, change := range map[string]func(*conversation.Item){
		"dm-write-en-03":              func(i *conversation.Item) { i.Params["above"] = 241.0 },
		"dm-answer-to-question-en-02": func(i *conversation.Item) { i.Params["symbol"] = "AAPL" },
		"dm-correction-en-01": func(i *conversation.Item) {
			i.Expectation = conversation.Expectation{Expect: conversation.OutcomeNoWrite}
		},
	} {
		for _, item := range set.Items {
			if item.ID != id {
				continue
			}
			change(&item)
			if got := conversation.Judge(set, item, transcript.Played[id], transcript.Catalog); got.Grade != conversation.SilentDrop {
				t.Errorf("%s: %s (%s)", id, got.Grade, got.Why)
			}
		}
	}
}

// The sets of the repository can be graded, and are as large as they are said to
// be.
func TestSets(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"demo.json": 40, "logistics.json": 40, "instruments.json": 40, "odd.json": 200} {
		s := readSet(t, name)
		langs := map[string]bool{}
		for _, i := range s.Items {
			langs[i.Lang] = true
		}
		if len(s.Items) < least || name == "odd.json" && len(langs) != 6 || name == "demo.json" && len(langs) != 5 {
			t.Errorf("%s: %d conversations in %d languages", name, len(s.Items), len(langs))
		}
	}
}
