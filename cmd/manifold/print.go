package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
)

// printer writes text for people. Much of it comes from domains and other users, so it removes control
// characters of terminals.
type printer struct{ w io.Writer }

func (p printer) printf(format string, args ...any) {
	_, _ = io.WriteString(p.w, clean(fmt.Sprintf(format, args...))) // a closed terminal is not an error
}

// clean removes control characters and bidirectional marks, except line breaks and tabs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

// oneLine returns a cleaned text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// table prints rows in columns. Leading spaces of a cell are kept, for trees.
func (p printer) table(indent string, heads []string, rows [][]string) {
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	line := func(cells []string) {
		out := make([]string, len(cells))
		for i, cell := range cells {
			out[i] = cell[:len(cell)-len(strings.TrimLeft(cell, " "))] + oneLine(cell)
		}
		_, _ = fmt.Fprintln(tw, indent+strings.TrimRight(strings.Join(out, "\t"), "\t"))
	}
	if len(heads) > 0 {
		line(heads)
	}
	for _, row := range rows {
		line(row)
	}
	_ = tw.Flush() // a closed terminal is not an error
}

// more says that the list may be incomplete.
func (p printer) more(listed, limit int) {
	if limit > 0 && listed >= limit {
		p.printf("There may be more: --limit says how much is listed, 0 lists all.\n")
	}
}

// text formats a JSON value on one line.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func whenPtr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return when(*t)
}

// answer prints the blocks of an answer.
func (p printer) answer(a *contracts.Answer) {
	if a == nil {
		return
	}
	for i, b := range a.Blocks {
		if i > 0 && (b.Kind == contracts.BlockTable || a.Blocks[i-1].Kind == contracts.BlockTable) {
			p.printf("\n")
		}
		p.block(b)
	}
	if a.Verdict != nil {
		p.verdict(a.Verdict)
	}
}

func (p printer) block(b contracts.Block) {
	if b.Title != "" {
		p.printf("%s\n", b.Title)
	}
	switch b.Kind {
	case contracts.BlockTable:
		p.blockTable(b)
	case contracts.BlockList:
		if b.Text != "" {
			p.printf("%s\n", b.Text)
		}
		for _, item := range b.Items {
			p.printf("  - %s\n", oneLine(item))
		}
	case contracts.BlockError:
		p.printf("! %s\n", b.Text)
	case contracts.BlockText, contracts.BlockNote:
		p.printf("%s\n", b.Text)
	}
}

func (p printer) blockTable(b contracts.Block) {
	heads := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		heads[i] = strings.ToUpper(c.Title)
		if c.Unit != "" {
			heads[i] += " (" + c.Unit + ")"
		}
	}
	rows := make([][]string, len(b.Rows))
	for i, row := range b.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], text(cell))
		}
	}
	p.table("  ", heads, rows)
}

func (p printer) verdict(v *contracts.Verdict) {
	p.printf("\nverdict: %s", strings.ReplaceAll(string(v.Status), "_", " "))
	if v.Score != nil {
		p.printf(", score %g", *v.Score)
	}
	if len(v.Reasons) > 0 {
		p.printf(" (%s)", strings.Join(v.Reasons, "; "))
	}
	p.printf("\n")
	for _, fix := range v.Fixes {
		p.printf("  - %s\n", oneLine(fix))
	}
}
