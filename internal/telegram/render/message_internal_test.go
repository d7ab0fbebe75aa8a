package render

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

func TestTextsOfDomainsAreTextInTelegram(t *testing.T) {
	t.Parallel()
	answer := &contracts.Answer{Blocks: []contracts.Block{
		{Kind: contracts.BlockText, Title: "<b>A & B</b>", Text: "1 < 2 & <a href=\"x\">*_~`</a>"},
		{Kind: contracts.BlockTable, Columns: []contracts.Column{{Title: "<i>"}}, Rows: [][]any{{"</pre><b>"}}},
	}}
	got := Pack(View(orchestrator.SessionView{Answer: answer, Notice: "`7K3Q2` is \\*approved\\* &lt;now&gt;"}, false, nil))
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	for _, want := range []string{
		"<code>7K3Q2</code> is *approved* &lt;now&gt;", "<b>&lt;b&gt;A &amp; B&lt;/b&gt;</b>", "1 &lt; 2 &amp; &lt;a href=\"x\"&gt;*_~`&lt;/a&gt;",
		"<pre>&lt;i&gt;\n&lt;/pre&gt;&lt;b&gt;\n</pre>",
	} {
		if !strings.Contains(got[0].HTML, want) {
			t.Errorf("no %q in\n%s", want, got[0].HTML)
		}
	}
}

func TestLongAnswersAreSplitAndNothingIsLost(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("😀<&", 3000)
	table := contracts.Block{Kind: contracts.BlockTable, Title: "Rows", Columns: []contracts.Column{{Title: "n"}, {Title: "text"}}}
	for range 300 {
		table.Rows = append(table.Rows, []any{"row", "some & text"})
	}
	answer := &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockText, Text: long}, table}}
	parts := View(orchestrator.SessionView{Answer: answer}, false, nil)
	var all strings.Builder
	p := packer{}
	for _, x := range parts {
		p.add(x)
	}
	p.flush()
	for _, m := range p.out {
		if n := len(utf16.Encode([]rune(m.HTML))); n > 4096 {
			t.Errorf("a message has %d units", n)
		}
		if strings.Count(m.HTML, "<pre>") != strings.Count(m.HTML, "</pre>") {
			t.Errorf("not closed: %s", m.HTML)
		}
		all.WriteString(m.Plain)
	}
	if got := strings.ReplaceAll(all.String(), "\n", ""); !strings.HasPrefix(got, long) || strings.Count(got, "some & text") != 300 {
		t.Errorf("something is lost: %d of %d bytes of the text, %d rows", len(got), len(long), strings.Count(got, "some & text"))
	}
	packed := Pack(parts)
	if len(packed) != maxMessages+1 || !strings.Contains(packed[maxMessages].Plain, "left out") {
		t.Errorf("%d messages, the last is %+v", len(packed), packed[len(packed)-1])
	}
}

func TestATableThatIsTooWideIsAListOfRecords(t *testing.T) {
	t.Parallel()
	wide := contracts.Block{
		Kind: contracts.BlockTable, Columns: []contracts.Column{{Title: "Name"}, {Title: "Size", Unit: "MB"}},
		Rows: [][]any{{strings.Repeat("x", 70), 1.5}, {"short", nil}},
	}
	if got := Words([]Part{table(wide)}); got != "Name: "+strings.Repeat("x", 70)+"\nSize (MB): 1.5\n\nName: short" {
		t.Errorf("got %q", got)
	}
	narrow := wide
	narrow.Rows = [][]any{{"ä", 1.5}, {"bcdef", 20.0}}
	if got := table(narrow); !got.pre || Words([]Part{got}) != "Name   Size (MB)\nä      1.5\nbcdef  20" {
		t.Errorf("got %q", Words([]Part{got}))
	}
}

func TestButtonsStandBelowWhatTheyAreAboutAndFitTelegram(t *testing.T) {
	t.Parallel()
	gates := []contracts.Interrupt{}
	for _, code := range []string{"AAAAA", "BBBBB"} {
		gates = append(gates, contracts.Interrupt{
			InterruptID: "gate_" + strings.Repeat(strings.ToLower(code), 4), Code: code, Type: contracts.InterruptWriteApproval,
			Status: contracts.InterruptOpen, Prompt: "Do it?", ActionSHA256: strings.Repeat("0", 64),
			Requesters: []string{"rita"}, Action: &contracts.Action{Instance: "north"},
		})
	}
	got := Pack(View(orchestrator.SessionView{Open: gates, MayApprove: []string{"AAAAA"}}, false, nil))
	if len(got) != 2 || len(got[0].Buttons[0]) != 2 || len(got[1].Buttons[0]) != 1 {
		t.Fatalf("%+v", got)
	}
	for n, m := range got {
		if !strings.Contains(m.Plain, "where: north\nasked by: rita\n") {
			t.Errorf("message %d does not say where and for whom: %s", n, m.Plain)
		}
		for _, b := range m.Buttons[0] {
			if !strings.Contains(b.Text, gates[n].Code) || !strings.Contains(b.CallbackData, gates[n].InterruptID) || len(b.CallbackData) > 64 {
				t.Errorf("message %d has %+v", n, b)
			}
		}
	}
}
