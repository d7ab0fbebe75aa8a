package render

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/contracts/gateview"
)

// span is a text in one style: "", "b", "i" or "code".
type span struct{ text, tag string }

// line is one line of a message.
type line []span

// Part is a paragraph of an answer.
type Part struct {
	lines []line
	// pre uses a monospaced font, in which columns line up.
	pre     bool
	buttons [][]models.InlineKeyboardButton
}

// Outgoing is one message, in Telegram's HTML and as plain text.
type Outgoing struct {
	HTML, Plain string
	Buttons     [][]models.InlineKeyboardButton
}

const (
	// maxMessage bounds a message in UTF-16 units of its HTML. Telegram allows 4096 units of
	// visible text, which is never longer.
	maxMessage = 4000
	// maxLine bounds a single line.
	maxLine = 3500
	// maxMessages bounds the messages of one answer.
	maxMessages = 8
)

// Plain returns an unformatted text as a part with one line for each of its lines.
func Plain(s string) []Part {
	var p Part
	for l := range strings.SplitSeq(s, "\n") {
		p.lines = append(p.lines, line{{text: l}})
	}
	return []Part{p}
}

// Words returns the plain text of parts.
func Words(parts []Part) string {
	var out []string
	for _, p := range parts {
		for _, l := range p.lines {
			out = append(out, l.plain())
		}
	}
	return strings.Join(out, "\n")
}

func (l line) plain() string {
	var out strings.Builder
	for _, s := range l {
		out.WriteString(shown(s.text))
	}
	return out.String()
}

// html returns a line in Telegram's HTML, in which only three characters are special.
func (l line) html() string {
	var out strings.Builder
	for _, s := range l {
		switch text := escape(s.text); {
		case s.tag == "" || text == "":
			out.WriteString(text)
		default:
			out.WriteString("<" + s.tag + ">" + text + "</" + s.tag + ">")
		}
	}
	return out.String()
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x00", "")

// shown returns a text with invisible characters made visible.
func shown(s string) string { return gateview.Visible(strings.ToValidUTF8(s, "�")) }

func escape(s string) string { return escaper.Replace(shown(s)) }

// width returns the length of a text in UTF-16 units, which Telegram counts.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// broken splits a line that exceeds maxLine.
func (l line) broken() []line {
	if width(l.html()) <= maxLine {
		return []line{l}
	}
	var out []line
	var now line
	room := maxLine
	for _, s := range l {
		for s.text != "" {
			head, cost := fit(s.text, room-len("<code></code>"))
			if head == "" {
				out, now, room = append(out, now), nil, maxLine
				continue
			}
			now, room = append(now, span{head, s.tag}), room-cost-len("<code></code>")
			s.text = s.text[len(head):]
		}
	}
	return append(out, now)
}

// fit returns the longest prefix of a text whose HTML fits in room, and its width.
func fit(s string, room int) (head string, cost int) {
	for i, r := range s {
		w := width(escape(string(r)))
		if cost+w > room {
			return s[:i], cost
		}
		cost += w
	}
	return s, cost
}

// Pack packs parts into as few messages as Telegram allows. A part with buttons ends its message, so
// that the buttons are below their subject.
func Pack(parts []Part) []Outgoing {
	var p packer
	for _, part := range parts {
		p.add(part)
	}
	p.flush()
	if len(p.out) == 0 { // a domain may answer with nothing but spaces
		return Pack(Plain("There is nothing to show."))
	}
	if extra := len(p.out) - maxMessages; extra > 0 {
		// Without buttons: nobody may decide what was not shown completely.
		cut := Outgoing{Plain: fmt.Sprintf("… %d messages more are left out here. \"manifold run show\" has all of it; /gates names what there is to decide, and \"manifold gates CODE\" shows it.", extra)}
		cut.HTML = escape(cut.Plain)
		p.out = append(p.out[:maxMessages], cut)
	}
	return p.out
}

// packer fills messages with parts; the last message is not yet in out.
type packer struct {
	out         []Outgoing
	html, plain strings.Builder
	size        int
	pre         bool
}

func (p *packer) add(x Part) {
	if p.size > 0 {
		p.write("\n", "\n")
	}
	for _, l := range x.lines {
		for _, l := range l.broken() {
			text, bare := l.html(), l.plain()
			if x.pre {
				text = escape(bare)
			}
			if p.size+width(text)+len("<pre></pre>\n") > maxMessage {
				p.flush()
			}
			p.style(x.pre)
			p.write(text+"\n", bare+"\n")
		}
	}
	p.style(false)
	if len(x.buttons) > 0 {
		p.flush()
		if len(p.out) > 0 {
			p.out[len(p.out)-1].Buttons = x.buttons
		}
	}
}

func (p *packer) write(html, plain string) {
	p.html.WriteString(html)
	p.plain.WriteString(plain)
	p.size += width(html)
}

// style starts or ends a preformatted block.
func (p *packer) style(pre bool) {
	switch {
	case pre && !p.pre:
		p.write("<pre>", "")
	case !pre && p.pre:
		p.write("</pre>", "")
	}
	p.pre = pre
}

// flush ends a message; an empty one is dropped.
func (p *packer) flush() {
	p.style(false)
	if strings.TrimSpace(p.plain.String()) != "" {
		p.out = append(p.out, Outgoing{HTML: strings.TrimSpace(p.html.String()), Plain: strings.TrimSpace(p.plain.String())})
	}
	p.html.Reset()
	p.plain.Reset()
	p.size = 0
}

// notice parses the orchestrator's reply to a command, a subset of Markdown: code in backticks, and
// escaped characters.
func notice(s string) []Part {
	if s == "" {
		return nil
	}
	var out Part
	for l := range strings.SplitSeq(s, "\n") {
		out.lines = append(out.lines, inline(strings.TrimPrefix(l, "- "), strings.HasPrefix(l, "- ")))
	}
	return []Part{out}
}

func inline(s string, item bool) line {
	var out line
	var now strings.Builder
	if item {
		now.WriteString("• ")
	}
	tag := ""
	end := func(next string) {
		if now.Len() > 0 {
			out = append(out, span{html.UnescapeString(now.String()), tag})
		}
		now.Reset()
		tag = next
	}
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\\' && len(s) > 1:
			r2, n2 := utf8.DecodeRuneInString(s[1:])
			now.WriteRune(r2)
			n += n2
		case r == '`' && tag == "":
			end("code")
		case r == '`':
			end("")
		default:
			now.WriteRune(r)
		}
		s = s[n:]
	}
	end("")
	return out
}
