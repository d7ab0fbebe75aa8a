package conversation_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval/conversation"
)

// today is the day that all sets here are read on.
func today() time.Time { return time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC) }

func catalog() conversation.Catalog {
	return conversation.Catalog{
		"shop.lend": {Ref: "shop.lend", Name: "lend", Description: "Lends a lamp.", Defaults: map[string]any{"lamp": nil, "days": 1.0, "comment": nil}, Required: []string{"lamp"}, Asks: []string{"For how many days?"}},
		"shop.sell": {Ref: "shop.sell", Name: "sell", Description: "Sells a lamp.", Defaults: map[string]any{"lamp": nil}},
		"shop.find": {Ref: "shop.find", Name: "find", Description: "Finds lamps.", Defaults: map[string]any{"lamp": nil}},
	}
}

// call is a node of a run with its gate, if it has one.
type call struct {
	tool   string
	params map[string]any
	state  contracts.NodeState
	gate   contracts.InterruptStatus
	when   bool
}

// run makes the view of a run. The class of a call is that of what it does.
func run(id string, calls ...call) contracts.RunView {
	r := contracts.RunView{RunID: id}
	for i, c := range calls {
		n := contracts.NodeView{State: c.state}
		n.NodeID, n.Kind, n.Tool, n.Params, n.Policy = string(rune('a'+i)), contracts.KindTool, c.tool, c.params, &contracts.Policy{SideEffectClass: contracts.ClassRead}
		if c.tool != "shop.find" {
			n.Policy.SideEffectClass = contracts.ClassWriteIrreversible
		}
		if c.when {
			n.When = &contracts.Condition{Path: "steps.x"}
		}
		if c.gate != "" {
			r.Interrupts = append(r.Interrupts, contracts.Interrupt{InterruptID: id + n.NodeID, NodeID: n.NodeID, Type: contracts.InterruptWriteApproval, Status: c.gate})
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

func lend(lamp any, more map[string]any, state contracts.NodeState) call {
	params := map[string]any{"lamp": lamp}
	maps.Copy(params, more)
	return call{tool: "shop.lend", params: params, state: state, gate: contracts.InterruptOpen}
}

func asked(prompt string) contracts.Interrupt {
	return contracts.Interrupt{InterruptID: "q1", Type: contracts.InterruptClarification, Status: contracts.InterruptOpen, Prompt: prompt}
}

func says(text string) *contracts.Answer {
	return &contracts.Answer{Blocks: []contracts.Block{{Text: text}}}
}

// played is a conversation that has come to these runs.
func played(runs ...contracts.RunView) conversation.Played {
	return conversation.Played{Runs: runs, Session: contracts.SessionResponse{Answer: says("Here it is.")}}
}

func questioned(prompt string) conversation.Played {
	p := played()
	p.Session.Interrupts = []contracts.Interrupt{asked(prompt)}
	return p
}

func told(text string) conversation.Played {
	return conversation.Played{Session: contracts.SessionResponse{Answer: says(text)}}
}

func set(t *testing.T, item string) conversation.Set {
	t.Helper()
	s, err := conversation.Parse([]byte(`{"items":[`+item+`]}`), today())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	lendOne = `"turns":["lend L1"],"expect":"do","capability":"shop.lend","params":{"lamp":"L1","days":3}`
	waiting = contracts.NodeAwaitingApproval
	three   = 3.0
)

func days(n float64) map[string]any { return map[string]any{"days": n} }

// Where a call stands in the plan, what has become of it and what was said of it is graded too.
func TestPlacesInThePlan(t *testing.T) {
	t.Parallel()
	const find, lent = `{"capability":"shop.find","params":{},"state":"completed"}`, `{"capability":"shop.lend","params":{"lamp":"L1"},"state":"awaiting_approval","when":true,"after":[1]}`
	const item = `"turns":["lend L1 if it is there","@approve"],"expect":"do","says":["it is there"],"actions":[` + find + "," + lent + `]`
	there := func(change func(*contracts.RunView)) conversation.Played {
		r := run("r", call{tool: "shop.find", state: contracts.NodeCompleted}, call{tool: "shop.lend", params: map[string]any{"lamp": "L1"}, state: waiting, gate: contracts.InterruptOpen, when: true})
		r.Nodes[1].DependsOn = []string{"x"}
		between := contracts.NodeView{State: contracts.NodeCompleted}
		between.NodeID, between.Kind, between.DependsOn = "x", contracts.KindHuman, []string{"a"}
		r.Nodes = append(r.Nodes, between)
		if change != nil {
			change(&r)
		}
		p := played(r)
		p.Session.Answer = says("Look, it is there.")
		return p
	}
	quiet := there(nil)
	quiet.Session.Answer = says("Here.")
	skipped := func(r *contracts.RunView) { r.Nodes[1].State, r.Interrupts = contracts.NodeSkipped, nil }
	for name, c := range map[string]struct {
		item   string
		played conversation.Played
		want   conversation.Grade
	}{
		"as wanted":         {item, there(nil), conversation.Right},
		"no condition":      {item, there(func(r *contracts.RunView) { r.Nodes[1].When = nil }), conversation.Wrong},
		"beside each other": {item, there(func(r *contracts.RunView) { r.Nodes[1].DependsOn = nil }), conversation.Wrong},
		"another state":     {item, there(func(r *contracts.RunView) { r.Nodes[0].State = contracts.NodeFailed }), conversation.Wrong},
		"skipped":           {item, there(skipped), conversation.Wrong},
		"skipped as wanted": {strings.Replace(item, "awaiting_approval", "skipped", 1), there(skipped), conversation.Right},
		"not said":          {item, quiet, conversation.Wrong},
		"after a round of the model": {item, there(func(r *contracts.RunView) {
			round := contracts.NodeView{State: contracts.NodeCompleted}
			round.NodeID, round.Kind, round.RunAfter = "y", contracts.KindReplan, []string{"a"}
			r.Nodes[1].DependsOn, r.Nodes[1].AfterReading = nil, []string{"Finds lamps"}
			r.Nodes = []contracts.NodeView{r.Nodes[0], round, r.Nodes[1]}
		}), conversation.Right},
	} {
		s := set(t, "{"+c.item+"}")
		if j := conversation.Judge(s, s.Items[0], c.played, catalog()); j.Grade != c.want {
			t.Errorf("%s: %s, %s, want %s", name, j.Grade, j.Why, c.want)
		}
	}
}

func TestGrades(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		item   string
		played conversation.Played
		want   conversation.Grade
	}{
		"what was meant waits for approval":     {lendOne, played(run("r", lend("L1", days(three), waiting))), conversation.Right},
		"case, accents and points do not count": {lendOne, played(run("r", lend(" l1. ", days(three), waiting))), conversation.Right},
		"a free remark may be there":            {lendOne, played(run("r", lend("L1", map[string]any{"days": three, "comment": "for Mia"}, waiting))), conversation.Right},
		"a default need not be given":           {`"turns":["lend L1"],"expect":"do","capability":"shop.lend","params":{"lamp":"L1","days":1}`, played(run("r", lend("L1", nil, waiting))), conversation.Right},
		"another value is a silent drop":        {lendOne, played(run("r", lend("L1", days(4), waiting))), conversation.SilentDrop},
		"a value more is a silent drop":         {`"turns":["lend L1"],"expect":"do","capability":"shop.lend","params":{"lamp":"L1"}`, played(run("r", lend("L1", days(4), waiting))), conversation.SilentDrop},
		"another write is a silent drop":        {lendOne, played(run("r", call{tool: "shop.sell", params: map[string]any{"lamp": "L1"}, state: waiting})), conversation.SilentDrop},
		"a write that is still to come counts":  {lendOne, played(run("r", lend("L2", days(three), contracts.NodePending))), conversation.SilentDrop},
		"a write that was rejected does not":    {lendOne, played(run("r", lend("L2", days(three), contracts.NodeRejected))), conversation.Wrong},
		"a list is a call for each":             {`"turns":["lend"],"expect":"do","capability":"shop.lend","params":{"lamp":["L1","L2"]}`, played(run("r", lend("L2", nil, waiting), lend("L1", nil, waiting))), conversation.Right},
		"half of a list is wrong":               {`"turns":["lend"],"expect":"do","capability":"shop.lend","params":{"lamp":["L1","L2"]}`, played(run("r", lend("L2", nil, waiting))), conversation.Wrong},
		"one of several values":                 {`"turns":["lend"],"expect":"do","capability":"shop.lend","params":{"lamp":{"any":["L7","L1"]}}`, played(run("r", lend("L1", nil, waiting))), conversation.Right},
		"any value":                             {`"turns":["lend"],"expect":"do","capability":"shop.lend","params":{"lamp":"*"}`, played(run("r", lend("L9", nil, waiting))), conversation.Right},
		"another way that is as right":          {lendOne + `,"or_actions":[[{"capability":"shop.find","params":{"lamp":"L1"}}]]`, played(run("r", call{tool: "shop.find", params: map[string]any{"lamp": "L1"}, state: contracts.NodeCompleted})), conversation.Right},
		"another read is wrong":                 {lendOne, played(run("r", call{tool: "shop.find", state: contracts.NodeCompleted})), conversation.Wrong},
		"a question about it":                   {lendOne, questioned("For how many days?"), conversation.Asked},
		"a question about something else":       {lendOne, questioned("Which colour?"), conversation.Wrong},
		"a question that is accepted":           {lendOne + `,"accept":["ask"]`, questioned("For how many days?"), conversation.Right},
		"a refusal of what can be done":         {lendOne, told("Nothing here can do that."), conversation.Wrong},
		"no answer at all":                      {lendOne, told(""), conversation.Wrong},
		"a server that refuses":                 {lendOne, conversation.Played{Refused: "429"}, conversation.Wrong},

		"a question that is due":               {`"turns":["lend"],"expect":"ask","for":"shop.lend"`, questioned("For how many days?"), conversation.Right},
		"a write where a question is due":      {`"turns":["lend"],"expect":"ask"`, played(run("r", lend("L1", nil, waiting))), conversation.SilentDrop},
		"a read where a question is due":       {`"turns":["find"],"expect":"ask"`, played(run("r", call{tool: "shop.find", state: contracts.NodeCompleted})), conversation.Wrong},
		"a read that does no harm":             {`"turns":["find"],"expect":"ask","reads_ok":true`, played(run("r", call{tool: "shop.find", state: contracts.NodeCompleted})), conversation.Right},
		"what was excepted is read":            {`"turns":["find"],"expect":"ask","reads_ok":true,"never":{"shop.find":{"lamp":"L1"}}`, played(run("r", call{tool: "shop.find", params: map[string]any{"lamp": "L1"}, state: contracts.NodeCompleted})), conversation.Wrong},
		"a condition that is planned":          {`"turns":["if"],"expect":"ask","tags":["condition"]`, played(run("r", call{tool: "shop.lend", params: map[string]any{"lamp": "L1"}, state: waiting, when: true})), conversation.Right},
		"a condition that is left out":         {`"turns":["if"],"expect":"ask","tags":["condition"]`, played(run("r", lend("L1", nil, waiting))), conversation.SilentDrop},
		"done, and said what is not used":      {`"turns":["lend fast"],"expect":"ask","base":[{"capability":"shop.lend","params":{"lamp":"L1"}}],"told":["fast"]`, conversation.Played{Runs: []contracts.RunView{run("r", lend("L1", nil, waiting))}, Session: contracts.SessionResponse{Answer: says("“fast” is not used.")}}, conversation.Asked},
		"a refusal that is due":                {`"turns":["fly"],"expect":"decline"`, told("Nothing here can do that."), conversation.Right},
		"a question where a refusal is due":    {`"turns":["fly"],"expect":"decline"`, questioned("Which?"), conversation.Asked},
		"a refusal where an answer is due":     {`"turns":["why"],"expect":"answer"`, told("Nothing here can do that."), conversation.Wrong},
		"an answer without what it has to say": {`"turns":["why"],"expect":"answer","says":["because"]`, told("It is so."), conversation.Wrong},
		"a question that stays open":           {`"turns":["lend","never mind"],"expect":"answer","closes":true`, questioned("Which?"), conversation.Wrong},
		"a write where none is":                {`"turns":["never lend"],"expect":"no-write"`, played(run("r", lend("L1", nil, waiting))), conversation.SilentDrop},
		"anything but a write":                 {`"turns":["never lend"],"expect":"no-write"`, questioned("Which?"), conversation.Right},
	} {
		s := set(t, `{"id":"x",`+c.item+`}`)
		if got := conversation.Judge(s, s.Items[0], c.played, catalog()); got.Grade != c.want {
			t.Errorf("%s: %s (%s), want %s", name, got.Grade, got.Why, c.want)
		}
	}
}

func TestACorrectedRequestMustNotWaitOn(t *testing.T) {
	t.Parallel()
	s := set(t, `{"id":"x","turns":["lend L1","no, 3 days"],"replaces":true,"expect":"do","capability":"shop.lend","params":{"lamp":"L1","days":3}}`)
	before := run("old", lend("L1", days(2), waiting))
	now := played(run("new", lend("L1", days(three), waiting)))
	now.Old, now.Session.Interrupts = []contracts.RunView{before}, before.Interrupts
	if got := conversation.Judge(s, s.Items[0], now, catalog()); got.Grade != conversation.Wrong {
		t.Errorf("both requests wait: %s (%s)", got.Grade, got.Why)
	}
	now.Session.Interrupts = nil
	if got := conversation.Judge(s, s.Items[0], now, catalog()); got.Grade != conversation.Right {
		t.Errorf("the first was superseded: %s (%s)", got.Grade, got.Why)
	}
}

func TestAnAnswerThatIsAskedForAgainWasNotTaken(t *testing.T) {
	t.Parallel()
	s := set(t, `{"id":"x","tags":["answer-to-question"],"turns":["lend L1","3"],"expect":"do","capability":"shop.lend","params":{"lamp":"L1","days":3}}`)
	p := questioned("For how many days?")
	p.AskedBefore = map[string]string{"q1": "For how many days?"}
	if got := conversation.Judge(s, s.Items[0], p, catalog()); got.Grade != conversation.Wrong {
		t.Errorf("%s (%s)", got.Grade, got.Why)
	}
}

// Names stand for what look-ups find, and a value may come from an earlier step.
func TestValuesAreFollowed(t *testing.T) {
	t.Parallel()
	r := run("r", call{tool: "shop.find", state: contracts.NodeCompleted}, lend("${steps.a.facts.first.value}", nil, waiting))
	r.Nodes[0].Role = contracts.RolePreSearch
	r.Nodes[0].Facts = map[string]any{"first": map[string]any{"value": "L1", "label": "Lila"}}
	s := set(t, `{"id":"x","turns":["lend Lila"],"expect":"do","capability":"shop.lend","params":{"lamp":"Lila"}}`)
	if got := conversation.Judge(s, s.Items[0], played(r), catalog()); got.Grade != conversation.Right || got.Calls[0].Params["lamp"] != "L1" {
		t.Errorf("%+v", got)
	}
}

func TestAWriteThatNobodyApprovedIsCounted(t *testing.T) {
	t.Parallel()
	approved := []conversation.Gate{{RunID: "r", Node: "a"}}
	for name, c := range map[string]struct {
		days     float64
		approved []conversation.Gate
		want     int
	}{
		"meant":                  {three, nil, 0},
		"not meant":              {5, nil, 1},
		"not meant but approved": {5, approved, 0},
	} {
		s := set(t, `{"id":"x",`+lendOne+`}`)
		p := played(run("r", call{tool: "shop.lend", params: map[string]any{"lamp": "L1", "days": c.days}, state: contracts.NodeCompleted}))
		p.Approved = c.approved
		row := conversation.NewRow(s.Items[0], p, conversation.Judge(s, s.Items[0], p, catalog()))
		if row.Effects != c.want {
			t.Errorf("%s: %d writes that nobody meant or approved, want %d", name, row.Effects, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := conversation.NewReport([]conversation.Row{
		{ID: "a", Lang: "en", Expect: conversation.OutcomeDo, Grade: conversation.Right, Tags: []string{"x"}},
		{ID: "b", Lang: "de", Expect: conversation.OutcomeDo, Grade: conversation.Asked},
		{ID: "c", Lang: "de", Expect: conversation.OutcomeAsk, Grade: conversation.SilentDrop, Effects: 2},
	})
	if r.Total.DonePercent != 50 || r.Total.AskedPercent != 50 || r.Total.SilentDrop != 1 || r.By["lang"]["de"].All != 2 || r.By["tag"]["x"].Right != 1 {
		t.Errorf("%+v", r)
	}
	half, no, one := 50.0, 0, 1
	if missed := (conversation.Floors{Done: &half, Drops: &one}).Missed(r.Total); len(missed) != 0 {
		t.Errorf("floors that hold: %v", missed)
	}
	most := 51.0
	if missed := (conversation.Floors{Done: &most, Drops: &no, Unapproved: &one}).Missed(r.Total); len(missed) != 3 {
		t.Errorf("floors that do not hold: %v", missed)
	}
}

func TestSetsThatCannotBeGradedAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":              `{`,
		"an unknown key":       `{"items":[{"id":"x","turns":["a"],"expect":"ask","expects_what":1}]}`,
		"no turn":              `{"items":[{"id":"x","expect":"ask"}]}`,
		"an unknown outcome":   `{"items":[{"id":"x","turns":["a"],"expect":"hope"}]}`,
		"nothing to do":        `{"items":[{"id":"x","turns":["a"],"expect":"do"}]}`,
		"the same id twice":    `{"items":[{"id":"x","turns":["a"],"expect":"ask"},{"id":"x","turns":["a"],"expect":"ask"}]}`,
		"too many expectation": `{"items":[{"id":"x","turns":["a"],"expect":"ask","expects":[null]}]}`,
	} {
		if _, err := conversation.Parse([]byte(text), today()); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

func TestDatesMoveWithTheCalendar(t *testing.T) {
	t.Parallel()
	s := set(t, `{"turns":["{M} {M+3:pt} {T+1} {fri} {eoy} {M:en} {M:de} {M:ord} {M:mon} {M:n} {M:it}"],"expect":"ask"}`)
	want := "2026-12-14 17 de dezembro 2026-11-28 2026-12-04 2026-12-31 December 14 14. Dezember 14th December 14 14 de dicembre"
	if got := s.Items[0].Turns[0]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.Items[0].ID != "und-001" || len(s.Items[0].Roles) != 1 {
		t.Errorf("defaults: %+v", s.Items[0])
	}
}

// A transcript is graded again as it was, after a way through JSON.
func TestATranscriptIsGradedAgain(t *testing.T) {
	t.Parallel()
	s := set(t, `{"id":"x",`+lendOne+`}`)
	body, err := json.Marshal(conversation.Transcript{Catalog: catalog(), Played: map[string]conversation.Played{"x": played(run("r", lend("L1", days(three), waiting)))}})
	if err != nil {
		t.Fatal(err)
	}
	var again conversation.Transcript
	if err := json.Unmarshal(body, &again); err != nil {
		t.Fatal(err)
	}
	if r := again.Grade(s); r.Total.Right != 1 || len(r.Rows) != 1 {
		t.Errorf("%+v", r.Total)
	}
}
