package eval_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

const shed = `{"schema_version":"1","domain":"shed","version":"1","capabilities":[
 {"name":"list_tools","description":"Lists the tools.","schema":{"type":"object"},"metadata":{"side_effect_class":"read","intent_hints":{"examples":["list the tools","which tools are there","show me all tools","what is in the shed","tools please"]}}},
 {"name":"remove_tool","description":"Removes a tool.",
  "schema":{"type":"object","properties":{"tool":{"type":"string","enum":["rake","spade","hoe"]}},"required":["tool"]},
  "metadata":{"side_effect_class":"write_irreversible","intent_hints":{"examples":["remove the rake","remove the spade from the shed","take out the hoe","remove a tool","delete the rake"]}}}],
 "tests":[{"say":"remove the spade","expect":{"capability":"remove_tool"}},{"say":"remove the spade quickly","expect":{"capability":"remove_tool"}},
  {"say":"remove the hoe quickly","expect":{"capability":"remove_tool"}},{"say":"remove the rake unless it rains","expect":null}]}`

func TestWhatIsLeftOverIsListed(t *testing.T) {
	t.Parallel()
	set, err := eval.Parse([]byte(shed))
	if err != nil {
		t.Fatal(err)
	}
	report, err := eval.Run(t.Context(), set, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Unread) == 0 {
		t.Fatal("nothing is left over")
	}
	if most := report.Unread[0]; most.Text != "quickly" || most.Times != 2 || most.Class != contracts.WordUnused || most.Say != "remove the spade quickly" || most.Capability != "shed.remove_tool" {
		t.Errorf("most often left over is %+v", most)
	}
	// Of the three that are done the gates of two show "quickly".
	if share, ok := report.Value("writes_marked"); !ok || share < 0.66 || share > 0.67 {
		t.Errorf("%.2f of the gates are marked", share)
	}
}
