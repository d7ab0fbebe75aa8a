package lexicon

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Numbers is how a language writes and says numbers. Lists of words with values
// are pairs, "one 1 two 2"; "_" joins the words of one.
type Numbers struct {
	// Decimal and Group are the signs in 1,500.25.
	Decimal string `toml:"decimal"`
	Group   string `toml:"group"`
	// Add are words that add up, Multiply those that multiply what is before them;
	// Alone are those of them that need nothing before them.
	Add      string `toml:"add"`
	Multiply string `toml:"multiply"`
	Alone    string `toml:"alone"`
	// Article is one where a unit or a multiplier follows.
	Article string `toml:"article"`
	// Joiners stand between number words, from JoinFrom on ("a hundred and five").
	Joiners  string  `toml:"joiners"`
	JoinFrom float64 `toml:"join_from"`
	// Compounds tells that number words are written together, Elided their forms
	// before a vowel, UnitsFirst what stands between the unit and the ten.
	Compounds  bool   `toml:"compounds"`
	Elided     string `toml:"elided"`
	UnitsFirst string `toml:"units_first"`
	// TeensAfter are tens that 10 to 19 are added to: soixante-dix.
	TeensAfter string `toml:"teens_after"`
	// Half stands before a unit, AndHalf behind a number or its unit; HalfEnding is
	// the end of a compound.
	Half       []string `toml:"half"`
	AndHalf    []string `toml:"and_half"`
	HalfEnding string   `toml:"half_ending"`
	// Spans are words for several units: "fortnight 2 week".
	Spans string `toml:"spans"`
	// Working are words behind a day that make it a working day.
	Working string `toml:"working"`
	// Ordinals are words, OrdinalEndings stand behind digits, OrdinalCompounds behind
	// number words; OrdinalDot tells that a dot makes one.
	Ordinals         string `toml:"ordinals"`
	OrdinalEndings   string `toml:"ordinal_endings"`
	OrdinalCompounds string `toml:"ordinal_compounds"`
	OrdinalDot       bool   `toml:"ordinal_dot"`

	Percent []string            `toml:"percent"`
	Units   map[string]string   `toml:"units"`
	Short   map[string]string   `toml:"short"`
	Money   map[string][]string `toml:"money"`

	// Measures are units by what they measure, with how many of the basic one each is: 0
	// where it is not turned into others. Prefixes stand before those that are 1. Sizes are
	// words in names of parameters by what is measured: "height" of a length.
	Measures map[string]string `toml:"measures"`
	Prefixes string            `toml:"prefixes"`
	Sizes    map[string]string `toml:"sizes"`
}

// UnitWords are the words of the units of time.
func (n *Numbers) UnitWords() []string {
	var out []string
	for _, words := range n.Units {
		out = append(out, strings.Fields(words)...)
	}
	return out
}

// Named gives the words of lists, spelled in some way, each with the name of its list.
func Named(lists map[string]string, spelled func(string) string) map[string]string {
	out := map[string]string{}
	for name, list := range lists {
		for w := range strings.FieldsSeq(list) {
			out[spelled(w)] = name
		}
	}
	return out
}

// Dates are the forms of days. <n> is a number, <unit> a unit of time, <day> a day
// of the month, <nth> the same as an ordinal, <point> any day.
type Dates struct {
	// Order is that of 03/04/2026, two where both are usual. Dotted tells that 7.12.
	// is a date.
	Order  string `toml:"order"`
	Dotted bool   `toml:"dotted"`
	// Months and Weekdays are the names, alternatives with "|", Monday first;
	// Announced are those that are a day only behind a word that says so.
	Months    string `toml:"months"`
	Weekdays  string `toml:"weekdays"`
	Announced string `toml:"announced"`
	// Near are days as "1 tomorrow", Fixed as "12-25 christmas", None what looks like
	// a day and is none.
	Near  []string `toml:"near"`
	Fixed []string `toml:"fixed"`
	None  []string `toml:"none"`

	Date          []string `toml:"date"`
	Year          []string `toml:"year"`
	Nth           []string `toml:"nth"`
	Weekday       []string `toml:"weekday"`
	NextWeekday   []string `toml:"next_weekday"`
	ComingWeekday []string `toml:"coming_weekday"`
	LastWeekday   []string `toml:"last_weekday"`
	// DoubtfulNext tells that "next Friday" has two readings before Friday.
	DoubtfulNext bool     `toml:"doubtful_next"`
	Ahead        []string `toml:"ahead"`
	Ago          []string `toml:"ago"`
	Later        []string `toml:"later"`
	// From is Later for weeks and more: days from a day are an amount.
	From        []string `toml:"from"`
	Earlier     []string `toml:"earlier"`
	WeekLater   []string `toml:"week_later"`
	StartOf     []string `toml:"start_of"`
	EndOf       []string `toml:"end_of"`
	MonthEnd    []string `toml:"month_end"`
	YearEnd     []string `toml:"year_end"`
	ThisPeriod  []string `toml:"this_period"`
	NextPeriod  []string `toml:"next_period"`
	LastPeriod  []string `toml:"last_period"`
	MonthPeriod []string `toml:"month_period"`
	// Span has its month once: "20 to 24 December"; Days has none.
	Span  []string `toml:"span"`
	Days  []string `toml:"days"`
	Range []string `toml:"range"`
}

// Times are the forms of times of day.
type Times struct {
	// H tells that 15h30 is a time, At what stands between a day and a time.
	H  bool     `toml:"h"`
	At []string `toml:"at"`

	Noon        []string `toml:"noon"`
	Midnight    []string `toml:"midnight"`
	Oclock      []string `toml:"oclock"`
	Spoken      []string `toml:"spoken"`
	HalfPast    []string `toml:"half_past"`
	HalfTo      []string `toml:"half_to"`
	QuarterPast []string `toml:"quarter_past"`
	QuarterTo   []string `toml:"quarter_to"`
	WithMinutes []string `toml:"with_minutes"`
	// Morning and Later say which half of the day is meant; Sure tells that a full
	// hour counts from midnight.
	Morning []string `toml:"morning"`
	Later   []string `toml:"later"`
	Range   []string `toml:"range"`
}

// values files the words by which values are read, so that they tell the language
// and are known not to be another word without its accents.
func (c *compiler) values(n int, f *file) {
	add := func(lists ...string) {
		for _, list := range lists {
			for w := range strings.FieldsFuncSeq(list, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("|?_-", r) }) {
				if strings.HasPrefix(w, "<") || !strings.ContainsFunc(w, unicode.IsLetter) {
					continue
				}
				c.lexica.Languages[n].words[Value] = append(c.lexica.Languages[n].words[Value], w)
				c.lexica.table.put(Lower(w), true, n, len(c.files), Value)
			}
		}
	}
	num, d, t := &f.Numbers, &f.Dates, &f.Times
	add(num.Add, num.Multiply, num.Article, num.Joiners, num.Ordinals, num.Spans, d.Months, d.Weekdays, d.Announced)
	add(slices.Concat(num.Half, num.AndHalf, num.Percent, d.Near, d.Fixed, d.Date, d.Nth, d.Weekday, d.NextWeekday, d.ComingWeekday, d.LastWeekday,
		d.Ahead, d.Ago, d.Later, d.From, d.Earlier, d.WeekLater, d.StartOf, d.EndOf, d.MonthEnd, d.YearEnd, d.ThisPeriod, d.NextPeriod, d.LastPeriod, d.Span, d.Days,
		d.Range, t.At, t.Noon, t.Midnight, t.Oclock, t.HalfPast, t.HalfTo, t.QuarterPast, t.QuarterTo, t.Morning, t.Later, t.Range)...)
	for _, unit := range slices.Sorted(maps.Keys(num.Units)) {
		add(num.Units[unit])
	}
}
