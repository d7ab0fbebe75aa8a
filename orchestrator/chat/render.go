package chat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// Render returns an answer as Markdown. Texts of domains are escaped: nothing in them becomes
// markup, a think tag or a marker.
func Render(a *contracts.Answer) string { return renderIn("", a) }

// renderIn is Render with our own texts translated to a language.
func renderIn(language string, a *contracts.Answer) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, b := range a.Blocks {
		b.Text = Translate(language, b.Text)
		parts = append(parts, block(b))
	}
	if v := a.Verdict; v != nil && v.Status != contracts.VerdictVerified && !decided(*v) {
		text := "*" + strings.ReplaceAll(string(v.Status), "_", " ") + "*"
		if v.Score != nil {
			text += " (score " + strconv.FormatFloat(*v.Score, 'f', -1, 64) + ")"
		}
		if len(v.Reasons) > 0 {
			text += ": " + Escape(strings.Join(v.Reasons, "; "))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// decided reports whether a verdict only says that a person decided against the request, which the
// answer itself says more clearly.
func decided(v contracts.Verdict) bool {
	return (v.Category == "rejected" || v.Category == "cancelled") && len(v.Reasons) == 1
}

func block(b contracts.Block) string {
	var out strings.Builder
	if b.Title != "" {
		out.WriteString("**" + Escape(b.Title) + "**\n\n")
	}
	switch b.Kind {
	case contracts.BlockTable:
		table(&out, b)
	case contracts.BlockList:
		for _, item := range b.Items {
			out.WriteString("- " + Escape(item) + "\n")
		}
	case contracts.BlockError:
		out.WriteString("⚠️ " + Escape(b.Text))
	case contracts.BlockText, contracts.BlockNote:
		out.WriteString(Escape(b.Text))
	}
	return strings.TrimRight(out.String(), "\n")
}

func table(out *strings.Builder, b contracts.Block) {
	heads := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		heads[i] = Escape(c.Title)
		if c.Unit != "" {
			heads[i] += " (" + Escape(c.Unit) + ")"
		}
	}
	out.WriteString("| " + strings.Join(heads, " | ") + " |\n|" + strings.Repeat(" --- |", len(heads)) + "\n")
	for _, row := range b.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = Escape(FormatValue(v))
			}
		}
		out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
}

// oneLine replaces line ends by a visible sign.
var oneLine = strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\r", "\uFFFD", "\t", " ")

// FormatValue formats a JSON value for people on one line. Characters that reorder or hide text are
// replaced by a visible sign.
func FormatValue(v any) string {
	text := fmt.Sprint(v)
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any, []any:
		if raw, err := json.Marshal(v); err == nil {
			text = string(raw)
		}
	}
	return gateview.Visible(oneLine.Replace(text))
}

var escaper = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "~", "\\~",
	"]", "\\]", "#", "\\#", "$", "\\$", "\n", " ", "\r", " ", "◁", "&#9665;", "{{", "{\u200b{",
)

// Escape escapes text for Markdown: it becomes no markup, formula, think tag or template of the
// frontend. A bare URL may still become a link. Only closing brackets are escaped: with both
// escaped, Open WebUI treats the text between them as a formula. Underscores within a word are no
// markup and stay: Open WebUI splits a word at an escape while an answer is streaming.
func Escape(s string) string {
	out := escaper.Replace(gateview.Visible(s))
	for inWord.MatchString(out) { // overlapping matches need a second pass
		out = inWord.ReplaceAllString(out, "${1}_${2}")
	}
	return out
}

var inWord = regexp.MustCompile(`([\pL\pN])\\_([\pL\pN])`)
