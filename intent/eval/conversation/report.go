package conversation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Row is the outcome of one conversation.
type Row struct {
	ID      string   `json:"id"`
	Lang    string   `json:"lang"`
	Tags    []string `json:"tags"`
	Expect  Outcome  `json:"expect"`
	Grade   Grade    `json:"grade"`
	Why     string   `json:"why,omitempty"`
	Turns   []string `json:"turns"`
	Did     []Call   `json:"did"`
	Wanted  []Action `json:"wanted,omitempty"`
	Said    []string `json:"said,omitempty"`
	Asks    []string `json:"asks,omitempty"`
	Effects int      `json:"effects"`
	Gates   int      `json:"gates"`
}

// NewRow sums up a judged conversation.
func NewRow(item Item, played Played, j Judgement) Row {
	r := Row{ID: item.ID, Lang: item.Lang, Tags: item.Tags, Expect: item.Expect, Grade: j.Grade, Why: j.Why, Turns: item.Turns, Did: j.Calls, Wanted: item.Wanted(), Effects: j.Effects, Gates: j.Gates}
	r.Said = played.Texts()
	r.Said = r.Said[:min(len(r.Said), 8)]
	for _, q := range played.questions() {
		r.Asks = append(r.Asks, q.Prompt)
	}
	return r
}

// Text is the row for people.
func (r Row) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s %s  %s", r.Grade, r.ID, strings.Join(r.Turns, " | "))
	if r.Why != "" {
		fmt.Fprintf(&b, "   [%s]", r.Why)
	}
	b.WriteByte('\n')
	for _, call := range r.Did {
		params := maps.Clone(call.Params)
		maps.Copy(params, call.Named)
		fmt.Fprintf(&b, "              %s%s %s\n", call.Capability, asJSON(params), call.State)
	}
	for _, q := range r.Asks {
		fmt.Fprintf(&b, "              asks: %.150q\n", q)
	}
	if len(r.Did)+len(r.Asks) == 0 {
		fmt.Fprintf(&b, "              says: %.200q\n", strings.Join(r.Said, " "))
	}
	return b.String()
}

// Counts are conversations by grade.
type Counts struct {
	All        int `json:"all"`
	Right      int `json:"right"`
	Asked      int `json:"asked"`
	Wrong      int `json:"wrong"`
	SilentDrop int `json:"silent-drop"`
}

func (c *Counts) add(g Grade) {
	c.All++
	switch g {
	case Right:
		c.Right++
	case Asked:
		c.Asked++
	case Wrong:
		c.Wrong++
	case SilentDrop:
		c.SilentDrop++
	}
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(1, all)) }

// Total are the figures of a run over a set.
type Total struct {
	Counts

	Do Counts `json:"do"`
	// DonePercent and AskedPercent are shares of the conversations in which
	// something was to be done.
	DonePercent  float64 `json:"right_do_pct"`
	AskedPercent float64 `json:"asked_pct"`
	RightPercent float64 `json:"right_pct"`
	// Effects are writes that ran, that nobody approved and that were not meant.
	Effects int `json:"effects"`
	// Gates are writes that wait for an approval.
	Gates int `json:"gates"`
}

// Report is what a run over a set came to.
type Report struct { //nolint:recvcheck // what adds to it needs a pointer
	Total Total                        `json:"total"`
	By    map[string]map[string]Counts `json:"by"`
	Rows  []Row                        `json:"rows"`
	// Model describes what a model under test did, where there was one.
	Model any `json:"model,omitempty"`
}

// Transcript is how the conversations of a run went: with a set it can be graded
// again.
type Transcript struct {
	Catalog Catalog           `json:"catalog"`
	Played  map[string]Played `json:"played"`
}

// Grade grades the conversations of a set that a transcript holds.
func (t Transcript) Grade(set Set) Report {
	var rows []Row
	for _, item := range set.Items {
		if played, ok := t.Played[item.ID]; ok {
			rows = append(rows, NewRow(item, played, Judge(set, item, played, t.Catalog)))
		}
	}
	return NewReport(rows)
}

// NewReport counts rows.
func NewReport(rows []Row) Report {
	r := Report{Rows: rows, By: map[string]map[string]Counts{}}
	for _, row := range rows {
		r.Total.add(row.Grade)
		r.Total.Effects += row.Effects
		r.Total.Gates += row.Gates
		if row.Expect == OutcomeDo {
			r.Total.Do.add(row.Grade)
		}
		r.count("expect", string(row.Expect), row.Grade)
		r.count("lang", row.Lang, row.Grade)
		for _, tag := range row.Tags {
			r.count("tag", tag, row.Grade)
		}
	}
	t := &r.Total
	t.DonePercent, t.AskedPercent, t.RightPercent = percent(t.Do.Right, t.Do.All), percent(t.Do.Asked, t.Do.All), percent(t.Right, t.All)
	return r
}

func (r *Report) count(kind, name string, g Grade) {
	if r.By[kind] == nil {
		r.By[kind] = map[string]Counts{}
	}
	c := r.By[kind][name]
	c.add(g)
	r.By[kind][name] = c
}

// Text is the table for people.
func (r Report) Text() string {
	var b strings.Builder
	for _, kind := range []string{"expect", "lang", "tag"} {
		fmt.Fprintf(&b, "\n%-20s%5s%7s%7s%7s%8s   right %%\n", kind, "all", "right", "asked", "wrong", "silent")
		for _, name := range slices.Sorted(maps.Keys(r.By[kind])) {
			c := r.By[kind][name]
			fmt.Fprintf(&b, "%-20s%5d%7d%7d%7d%8d%9.0f\n", name, c.All, c.Right, c.Asked, c.Wrong, c.SilentDrop, percent(c.Right, c.All))
		}
	}
	t := r.Total
	fmt.Fprintf(&b, "\ndone %.1f %% of %d, asked instead %.1f %%; all items right: %.1f %% of %d; silent drops %d; gates %d; writes that nobody meant or approved %d\n",
		t.DonePercent, t.Do.All, t.AskedPercent, t.RightPercent, t.All, t.SilentDrop, t.Gates, t.Effects)
	return b.String()
}

// Floors are the figures that a run must reach; nil is no floor.
type Floors struct {
	Done, Asked              *float64
	Drops, Unapproved, Gates *int
}

// Missed reports which floors a run has missed.
func (f Floors) Missed(t Total) []string {
	var out []string
	if f.Done != nil && t.DonePercent < *f.Done {
		out = append(out, fmt.Sprintf("done: %.1f %%, at least %g %% wanted", t.DonePercent, *f.Done))
	}
	if f.Asked != nil && t.AskedPercent > *f.Asked {
		out = append(out, fmt.Sprintf("asked: %.1f %%, at most %g %% wanted", t.AskedPercent, *f.Asked))
	}
	if f.Drops != nil && t.SilentDrop > *f.Drops {
		out = append(out, fmt.Sprintf("silent drops: %d, at most %d wanted", t.SilentDrop, *f.Drops))
	}
	if f.Gates != nil && t.Gates > *f.Gates {
		out = append(out, fmt.Sprintf("gates: %d, at most %d wanted", t.Gates, *f.Gates))
	}
	if f.Unapproved != nil && t.Effects > *f.Unapproved {
		out = append(out, fmt.Sprintf("writes that nobody meant or approved: %d, at most %d wanted", t.Effects, *f.Unapproved))
	}
	return out
}

// Sort puts rows into the order of their items.
func Sort(rows []Row, items []Item) {
	at := map[string]int{}
	for n, i := range items {
		at[i.ID] = n
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(at[a.ID], at[b.ID]) })
}
