package httpapi_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// agreed is a workflow that asks before a lookup.
const agreed = `{"schema_version":"1","domain":"desk","version":"1","workflows":[{
  "name":"agreed_price","description":"Asks, and looks a price up.",
  "schema":{"type":"object","required":["symbol"],"properties":{"symbol":{"type":"string","enum":["AAPL","MSFT"]}}},
  "metadata":{"intent_hints":{"examples":["agree with me on the quote of AAPL","agree on the quote of MSFT with me"]}},
  "steps":[
    {"id":"agree","kind":"human","human":{"interrupt":"plan_approval","prompt":"Look this up?","value":{"symbol":"${params.symbol}"},
      "allow":["approve","edit","reject"]}},
    {"id":"look","kind":"tool","tool":"finance.get_stock_price","depends_on":["agree"],"params":{"symbol":"${steps.agree.facts.value.symbol}"}}],
  "result":{"summary":"Looked up ${steps.look.facts.symbol}."}}]}`

func TestAQuestionOfAWorkflowAsANativeCard(t *testing.T) {
	t.Parallel()
	offer := []any{map[string]any{"type": "function", "function": map[string]any{"name": "ask_user"}}}
	option := func(label string) string {
		return `{"status":"answered","answers":{"decision":{"type":"option","option_index":1,"label":"` + label + `"}}}`
	}
	for name, c := range map[string]struct{ answer, says string }{
		"approve":          {option("Approve"), "Looked up AAPL."},
		"reject":           {option("Reject"), "Not done"},
		"later":            {option("Decide later"), "Look this up?"},
		"words that edit":  {`{"status":"answered","answers":{"decision":{"type":"other","text":"edit: symbol = MSFT"}}}`, "Looked up MSFT."},
		"something else":   {option("Maybe"), "Look this up?"},
		"put away":         {"Error: tool call rejected by user.", "Look this up?"},
		"words that agree": {`{"status":"answered","answers":{"decision":{"type":"other","text":"approve"}}}`, "Looked up AAPL."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTalk(t)
			if report, err := k.admin.RegisterDomain(t.Context(), contracts.Registration{Domain: "desk", Pack: []byte(agreed)}); err != nil || report.Outcome != contracts.DomainActive {
				t.Fatalf("%+v %v", report, err)
			}
			header := map[string]string{"X-OpenWebUI-Chat-Id": "c1"}
			said := "agree with me on the quote of AAPL"
			first := k.post("uma", ask(said, map[string]any{"tools": offer}), header)
			if len(first.tools) != 1 || first.finish != "tool_calls" || !strings.Contains(first.content, "| symbol | AAPL |") {
				t.Fatalf("no card: %+v", first)
			}
			checkCard(t, first.tools[0].Function.Arguments)
			history := []message{{Role: "user", Content: said}, {Role: "assistant", Content: first.content}, {Role: "tool", Content: c.answer, ToolCallID: first.tools[0].ID}}
			got := k.post("uma", map[string]any{"model": "manifold", "stream": true, "messages": history, "tools": offer}, header)
			if !strings.Contains(got.content, c.says) || len(got.tools) != 0 {
				t.Errorf("%s %+v", got.content, got.tools)
			}
		})
	}
}
