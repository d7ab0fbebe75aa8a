package ask_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/capability/ask"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

func TestAssertionsHoldOfTheAnswersTheyMean(t *testing.T) {
	t.Parallel()
	outcome := ask.Outcome{
		Text: "The sum is 144.", LatencyMS: 120, Tools: []string{"calculator"},
		Raw: json.RawMessage(`{"text":"The sum is 144.","usedTools":[{"tool":"calculator","n":2}]}`),
	}
	tests := map[string]struct {
		assertion ask.Assertion
		holds     bool
	}{
		"an answer that is there":        {ask.Assertion{Type: ask.Answered}, true},
		"words in any case":              {ask.Assertion{Type: ask.Contains, Value: "SUM"}, true},
		"words that are missing":         {ask.Assertion{Type: ask.Contains, Value: "product"}, false},
		"words that must not be there":   {ask.Assertion{Type: ask.NotContains, Value: "144"}, false},
		"a pattern":                      {ask.Assertion{Type: ask.Matches, Value: `\b\d{3}\b`}, true},
		"a pattern that is none":         {ask.Assertion{Type: ask.Matches, Value: `(`}, false},
		"a path to a text":               {ask.Assertion{Type: ask.JSONPath, Path: "usedTools[0].tool", Value: "calculator"}, true},
		"a path to a number":             {ask.Assertion{Type: ask.JSONPath, Path: "usedTools[0].n", Value: "2"}, true},
		"a path that leads nowhere":      {ask.Assertion{Type: ask.JSONPath, Path: "usedTools[3].tool", Value: "calculator"}, false},
		"long enough":                    {ask.Assertion{Type: ask.MinLength, Bound: 15}, true},
		"too long":                       {ask.Assertion{Type: ask.MaxLength, Bound: 14}, false},
		"fast enough":                    {ask.Assertion{Type: ask.MaxLatency, Bound: 120}, true},
		"too slow":                       {ask.Assertion{Type: ask.MaxLatency, Bound: 119}, false},
		"a tool that was used":           {ask.Assertion{Type: ask.UsesTool, Value: "calculator"}, true},
		"a tool that was not used":       {ask.Assertion{Type: ask.UsesTool, Value: "search"}, false},
		"an assertion that nobody knows": {ask.Assertion{Type: "smells_nice"}, false},
	}
	for name, tt := range tests {
		problems := ask.Judge(ask.Case{Assertions: []ask.Assertion{tt.assertion}}, outcome)
		if (len(problems) == 0) != tt.holds {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestACasePassesWhenEachTrialDoes(t *testing.T) {
	t.Parallel()
	c := ask.Case{Name: "c", Assertions: []ask.Assertion{{Type: ask.Contains, Value: "yes"}}}
	judged := ask.Judgements([]ask.Result{
		{Case: c, Outcomes: []ask.Outcome{{Text: "yes"}, {Text: "yes"}}},
		{Case: c, Outcomes: []ask.Outcome{{Text: "yes"}, {Text: "no"}}},
		{Case: c},
	})
	var got []bool
	for _, j := range judged {
		got = append(got, j.OK)
	}
	if diff := cmp.Diff([]bool{true, false, false}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheVerdictNamesWhatToMendFirst(t *testing.T) {
	t.Parallel()
	failed := func(problem string) ask.Judged {
		return ask.Judged{Name: "c", Trials: 1, Problems: []string{problem}}
	}
	passed := ask.Judged{Name: "p", Trials: 1, Passed: 1, OK: true}
	tests := map[string]struct {
		judged   []ask.Judged
		status   string
		category flow.Category
	}{
		"all passed":                        {[]ask.Judged{passed}, ask.Done, ""},
		"nothing was tested":                {nil, ask.Iterate, flow.Incomplete},
		"a wrong answer":                    {[]ask.Judged{passed, failed(`the answer does not contain "x"`)}, ask.Iterate, flow.Logic},
		"a missing credential":              {[]ask.Judged{failed("failed: Missing credentials for chatOpenAI")}, ask.Iterate, flow.Credential},
		"a provider that refuses the key":   {[]ask.Judged{failed("failed: 401 Unauthorized")}, ask.Iterate, flow.Credential},
		"a flow without an end":             {[]ask.Judged{failed("failed: Ending nodes not found")}, ask.Iterate, flow.Structure},
		"a flow that is not there":          {[]ask.Judged{failed("failed: Chatflow x not found in the database!")}, ask.Iterate, flow.Incomplete},
		"a credential before wrong answers": {[]ask.Judged{failed("the answer is empty"), failed("failed: Missing credentials")}, ask.Iterate, flow.Credential},
	}
	for name, tt := range tests {
		v := ask.Conclude(tt.judged)
		if v.Status != tt.status || v.Category != tt.category || (v.Status == ask.Iterate) != (v.Fix != "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestCasesAskForWhatAFlowIsMadeFor: its documents, tools and memory.
func TestCasesAskForWhatAFlowIsMadeFor(t *testing.T) {
	t.Parallel()
	node := func(id, name, label, category, inputs string) string {
		return fmt.Sprintf(`{"id":%q,"data":{"id":%q,"name":%q,"label":%q,"category":%q,"inputs":%s}}`, id, id, name, label, category, inputs)
	}
	g, err := flow.Decompile([]byte(`{"edges":[],"nodes":[` + strings.Join([]string{
		node("a", "cheerioWebScraper", "Cheerio Web Scraper", "Document Loaders", `{"url":"https://acme.example/faq"}`),
		node("b", "memoryVectorStore", "In-Memory Vector Store", "Vector Stores", `{}`),
		node("c", "calculator", "Calculator", "Tools", `{}`),
		node("d", "serper", "Serper", "Tools", `{}`),
		node("e", "bufferMemory", "Buffer Memory", "Memory", `{}`),
		node("f", "toolAgent", "Tool Agent", "Agents", `{}`),
	}, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, c := range ask.Generate(g, nil) {
		if c.Kind == ask.Happy {
			asked = append(asked, c.Question)
		}
	}
	all := strings.Join(asked, "\n")
	for _, want := range []string{"https://acme.example/faq", "12 times 12", "Serper", "my name", "help me with"} {
		if !strings.Contains(all, want) {
			t.Errorf("nobody asks for %q:\n%s", want, all)
		}
	}
}
