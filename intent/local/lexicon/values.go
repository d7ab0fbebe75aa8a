package lexicon

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Numbers defines how a language writes numbers. A list of words with values consists of pairs,
// "one 1 two 2"; "_" joins the words of one name.
type Numbers struct {
	// Decimal and Group are the separators in 1,500.25.
	Decimal string `toml:"decimal"`
	Group   string `toml:"group"`
	// Add holds words that add, Multiply words that multiply; Alone holds multipliers that can
	// begin a number.
	Add      string `toml:"add"`
	Multiply string `toml:"multiply"`
	Alone    string `toml:"alone"`
	// Article holds words for one before a unit or a multiplier.
	Article string `toml:"article"`
	// Joiners join number words, from JoinFrom on ("a hundred and five").
	Joiners  string  `toml:"joiners"`
	JoinFrom float64 `toml:"join_from"`
	// Compounds is set if number words are compounds. Elided holds their forms before a vowel,
	// UnitsFirst the joiner between unit and ten.
	Compounds  bool   `toml:"compounds"`
	Elided     string `toml:"elided"`
	UnitsFirst string `toml:"units_first"`
	// TeensAfter holds tens to which 10 to 19 are added: "soixante-dix".
	TeensAfter string `toml:"teens_after"`
	// Half stands before a unit, AndHalf behind a number or its unit; HalfEnding ends a compound.
	Half       []string `toml:"half"`
	AndHalf    []string `toml:"and_half"`
	HalfEnding string   `toml:"half_ending"`
	// Spans holds words for several units: "fortnight 2 week".
	Spans string `toml:"spans"`
	// Working holds modifiers of a working day.
	Working string `toml:"working"`
	// Ordinals holds ordinal words, OrdinalEndings the endings of digits, OrdinalCompounds those
	// of number words. OrdinalDot is set if a dot marks an ordinal.
	Ordinals         string `toml:"ordinals"`
	OrdinalEndings   string `toml:"ordinal_endings"`
	OrdinalCompounds string `toml:"ordinal_compounds"`
	OrdinalDot       bool   `toml:"ordinal_dot"`

	Percent []string            `toml:"percent"`
	Units   map[string]string   `toml:"units"`
	Short   map[string]string   `toml:"short"`
	Money   map[string][]string `toml:"money"`

	// Measures holds units by dimension, with their factors to the base unit: 0 if not converted.
	// Prefixes apply to units with factor 1. Sizes holds words of parameter names by dimension,
	// such as "height" for length.
	Measures map[string]string `toml:"measures"`
	Prefixes string            `toml:"prefixes"`
	Sizes    map[string]string `toml:"sizes"`
}

// UnitWords returns the words of the units of time.
func (n *Numbers) UnitWords() []string {
	var out []string
	for _, words := range n.Units {
		out = append(out, strings.Fields(words)...)
	}
	return out
}

// Named returns the words of lists in a normal form, each with the name of its list.
func Named(lists map[string]string, spelled func(string) string) map[string]string {
	out := map[string]string{}
	for name, list := range lists {
		for w := range strings.FieldsSeq(list) {
			out[spelled(w)] = name
		}
	}
	return out
}

// Dates holds the forms of dates. <n> is a number, <unit> a unit of time, <day> a day of the
// month, <nth> the same as an ordinal, <point> any date.
type Dates struct {
	// Order is the order of 03/04/2026; it has two values if both are common. Dotted is set if
	// "7.12." is a date.
	Order  string `toml:"order"`
	Dotted bool   `toml:"dotted"`
	// Months and Weekdays are names, with alternatives separated by "|", from Monday. Announced
	// holds weekdays that need a preceding word.
	Months    string `toml:"months"`
	Weekdays  string `toml:"weekdays"`
	Announced string `toml:"announced"`
	// Near holds days as "1 tomorrow", Fixed as "12-25 christmas", None phrases that look like a
	// date and are none.
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
	// DoubtfulNext is set if "next Friday" is ambiguous before Friday.
	DoubtfulNext bool     `toml:"doubtful_next"`
	Ahead        []string `toml:"ahead"`
	Ago          []string `toml:"ago"`
	Later        []string `toml:"later"`
	// From is like Later for weeks and longer units: days from a date are a duration.
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
	// Span has one month: "20 to 24 December"; Days has none.
	Span  []string `toml:"span"`
	Days  []string `toml:"days"`
	Range []string `toml:"range"`
}

// Times holds the forms of times of day.
type Times struct {
	// H is set if 15h30 is a time. At holds words between a date and a time.
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
	// Morning and Later hold the halves of the day. Sure is set if a full hour counts from
	// midnight.
	Morning []string `toml:"morning"`
	Later   []string `toml:"later"`
	Range   []string `toml:"range"`
}

// values adds the words of values to the table, for language detection and for conflicts with
// words without accents.
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
