package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Report is what a set gave.
type Report struct {
	Set          string   `json:"set"`
	Draws        int      `json:"draws"`
	Capabilities int      `json:"capabilities"`
	Cases        int      `json:"cases"`
	Figures      []Figure `json:"figures"`
	// Wrong are the cases of the last draw that were not understood.
	Wrong []Wrong `json:"wrong,omitempty"`
	// Unread are the parts of messages of the last draw that are left over most.
	Unread []Unread `json:"unread,omitempty"`
}

// Wrong is a case that was not understood.
type Wrong struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Want are the capabilities that were meant; empty means none.
	Want       []string `json:"want"`
	Found      string   `json:"found"`
	Confidence float64  `json:"confidence"`
	Gate       string   `json:"gate"`
}

// Value gives one figure of a report.
func (r Report) Value(key string) (float64, bool) {
	at := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Key == key })
	if at < 0 {
		return 0, false
	}
	return r.Figures[at].Value, true
}

// wrong are the cases that were accepted wrongly or not found.
func (r *running) wrong() []Wrong {
	var out []Wrong
	for _, o := range r.outcomes {
		if o.right() {
			continue
		}
		w := Wrong{ID: o.c.ID, Text: o.c.Text, Found: o.found, Confidence: o.confidence, Gate: string(o.gate)}
		for _, g := range o.c.Gold {
			w.Want = append(w.Want, g.Ref())
		}
		out = append(out, w)
	}
	return out
}

// right tells a case that went as it should: understood, or not taken for
// something when there is nothing.
func (o outcome) right() bool {
	switch len(o.c.Gold) {
	case 0:
		return o.gate != "accept"
	case 1:
		return o.found == o.c.Gold[0].Ref()
	}
	return o.understood()
}

// averaged is the mean of each figure over the draws.
func averaged(draws [][]Figure) []Figure {
	var out []Figure
	for _, first := range draws[0] {
		low, high, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0
		for _, figures := range draws {
			for _, f := range figures {
				if f.Key == first.Key {
					low, high, sum, n = min(low, f.Value), max(high, f.Value), sum+f.Value, n+1
				}
			}
		}
		first.Value, first.Spread = sum/float64(n), high-low
		out = append(out, first)
	}
	return out
}

// Text writes the figures one below the other.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d capabilities, %d cases, %s\n", r.Set, r.Capabilities, r.Cases, plural(r.Draws, "draw"))
	for _, f := range r.Figures {
		value, spread := f.format(f.Value), ""
		if r.Draws > 1 {
			spread = "  ±" + f.format(f.Spread/2)
		}
		fmt.Fprintf(&b, "  %-30s %10s%s\n", strings.ReplaceAll(f.Key, "_", " "), value, spread)
	}
	return b.String()
}

// UnreadText writes what is left over, one part a line.
func (r Report) UnreadText() string {
	var b strings.Builder
	for _, u := range r.Unread {
		fmt.Fprintf(&b, "  %4d  %-8s %q, %s in %q\n", u.Times, u.Class, u.Text, u.Capability, u.Say)
	}
	return b.String()
}

func (f Figure) format(v float64) string {
	switch f.Unit {
	case "share":
		return fmt.Sprintf("%.1f %%", 100*v)
	case "":
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f %s", v, f.Unit)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// WrongText lists the sentences that were not understood.
func (r Report) WrongText() string {
	var b strings.Builder
	line := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for _, w := range r.Wrong {
		want := cmp.Or(strings.Join(w.Want, ", "), "nothing")
		fmt.Fprintf(&b, "  %s: %s\n    wanted %s; %s at %.2f (%s)\n", w.ID, line(w.Text), want, w.Found, w.Confidence, w.Gate)
	}
	return b.String()
}
