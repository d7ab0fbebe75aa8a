package suite_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/suite"
)

func TestAssertionsHoldOfTheAnswersTheyMean(t *testing.T) {
	t.Parallel()
	outcome := suite.Outcome{
		Text: "The sum is 144.", LatencyMS: 120, Tools: []string{"calculator"},
		Raw: json.RawMessage(`{"text":"The sum is 144.","usedTools":[{"tool":"calculator","n":2}]}`),
	}
	tests := map[string]struct {
		assertion suite.Assertion
		holds     bool
	}{
		"an answer that is there":        {suite.Assertion{Type: suite.Answered}, true},
		"words in any case":              {suite.Assertion{Type: suite.Contains, Value: "SUM"}, true},
		"words that are missing":         {suite.Assertion{Type: suite.Contains, Value: "product"}, false},
		"words that must not be there":   {suite.Assertion{Type: suite.NotContains, Value: "144"}, false},
		"a pattern":                      {suite.Assertion{Type: suite.Matches, Value: `\b\d{3}\b`}, true},
		"a pattern that is none":         {suite.Assertion{Type: suite.Matches, Value: `(`}, false},
		"a path to a text":               {suite.Assertion{Type: suite.JSONPath, Path: "usedTools[0].tool", Value: "calculator"}, true},
		"a path to a number":             {suite.Assertion{Type: suite.JSONPath, Path: "usedTools[0].n", Value: "2"}, true},
		"a path that leads nowhere":      {suite.Assertion{Type: suite.JSONPath, Path: "usedTools[3].tool", Value: "calculator"}, false},
		"long enough":                    {suite.Assertion{Type: suite.MinLength, Bound: 15}, true},
		"too long":                       {suite.Assertion{Type: suite.MaxLength, Bound: 14}, false},
		"fast enough":                    {suite.Assertion{Type: suite.MaxLatency, Bound: 120}, true},
		"too slow":                       {suite.Assertion{Type: suite.MaxLatency, Bound: 119}, false},
		"a tool that was used":           {suite.Assertion{Type: suite.UsesTool, Value: "calculator"}, true},
		"a tool that was not used":       {suite.Assertion{Type: suite.UsesTool, Value: "search"}, false},
		"an assertion that nobody knows": {suite.Assertion{Type: "smells_nice"}, false},
	}
	for name, tt := range tests {
		problems := suite.Judge(suite.Case{Assertions: []suite.Assertion{tt.assertion}}, outcome)
		if (len(problems) == 0) != tt.holds {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestACasePassesWhenEachTrialDoes(t *testing.T) {
	t.Parallel()
	c := suite.Case{Name: "c", Assertions: []suite.Assertion{{Type: suite.Contains, Value: "yes"}}}
	judged := suite.Judgements([]suite.Result{
		{Case: c, Outcomes: []suite.Outcome{{Text: "yes"}, {Text: "yes"}}},
		{Case: c, Outcomes: []suite.Outcome{{Text: "yes"}, {Text: "no"}}},
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
	failed := func(problem string) suite.Judged {
		return suite.Judged{Name: "c", Trials: 1, Problems: []string{problem}}
	}
	passed := suite.Judged{Name: "p", Trials: 1, Passed: 1, OK: true}
	tests := map[string]struct {
		judged   []suite.Judged
		status   string
		category flow.Category
	}{
		"all passed":                        {[]suite.Judged{passed}, suite.Done, ""},
		"nothing was tested":                {nil, suite.Iterate, flow.Incomplete},
		"a wrong answer":                    {[]suite.Judged{passed, failed(`the answer does not contain "x"`)}, suite.Iterate, flow.Logic},
		"a missing credential":              {[]suite.Judged{failed("failed: Missing credentials for chatOpenAI")}, suite.Iterate, flow.Credential},
		"a provider that refuses the key":   {[]suite.Judged{failed("failed: 401 Unauthorized")}, suite.Iterate, flow.Credential},
		"a flow without an end":             {[]suite.Judged{failed("failed: Ending nodes not found")}, suite.Iterate, flow.Structure},
		"a flow that is not there":          {[]suite.Judged{failed("failed: Chatflow x not found in the database!")}, suite.Iterate, flow.Incomplete},
		"a credential before wrong answers": {[]suite.Judged{failed("the answer is empty"), failed("failed: Missing credentials")}, suite.Iterate, flow.Credential},
	}
	for name, tt := range tests {
		v := suite.Conclude(tt.judged)
		if v.Status != tt.status || v.Category != tt.category || (v.Status == suite.Iterate) != (v.Fix != "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestCasesAskForWhatAFlowIsMadeFor: its documents, its tools, its memory.
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
	for _, c := range suite.Generate(g, nil) {
		if c.Kind == suite.Happy {
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
