package values

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// captures holds the values of the slots of a form while it is matched.
type captures struct {
	from, second int // start tokens of the first and the second value
	behind       int // end of the first value
	days         [2]int
	months       [2]time.Month
	year         int
	weekday      time.Weekday
	number       Entity
	unit         string
	points       [2]Entity
	clocks       [2]Entity
	period       [2]time.Time
	hour, minute int
	spelledHour  bool
	wordy        bool // a day is spelled out
	nd, nm       int
	np, nc       int
	end          int
}

// reader reads the values of one message in one language.
type reader struct {
	s          *Scanner
	language   *language
	d          *Doc
	now, today time.Time
	c          captures
	// points caches the dates by their first token.
	points map[int][]reading
	// classes selects the rules to try.
	classes [periodRule + 1]bool
}

// reading is a match at a token: a value, or the two ends of a range.
type reading struct {
	a, b Entity
	pair bool
	end  int // the token behind it
}

func (r *reader) fold(i int) string { return r.d.fold(i) }

// Fill implements [lexicon.Slots].
func (r *reader) Fill(slot string, at int, then func(next int)) {
	saved := r.c
	give := func(next int) {
		switch {
		case saved.from < 0:
			r.c.from, r.c.behind = at, next
		case saved.second < 0:
			r.c.second = at
		}
		then(next)
		r.c = saved
	}
	switch slot {
	case "day", "nth":
		if day, width, ok := r.day(at, slot == "nth"); ok && r.c.nd < 2 {
			r.c.days[r.c.nd] = day
			r.c.wordy = r.c.wordy || !r.d.Tokens[at].Is(tokenize.FormDigits|tokenize.FormMixed)
			r.c.nd++
			give(at + width)
		}
	case "month":
		if month, ok := r.language.months[r.fold(at)]; ok && r.c.nm < 2 {
			r.c.months[r.c.nm] = month
			r.c.nm++
			give(at + 1)
		}
	case "year":
		if year, ok := yearOf(r.fold(at)); ok {
			r.c.year = year
			give(at + 1)
		}
	case "weekday", "announced":
		if day, width, ok := r.dayName(at, slot); ok {
			r.c.weekday = day
			give(at + width)
			r.c = saved
		}
	case "n":
		r.fillNumber(at, give)
	case "unit":
		if unit, ok := r.language.units[r.fold(at)]; ok {
			r.c.unit = unit
			give(at + 1)
		} else if span, ok := r.language.spans[r.fold(at)]; ok {
			r.c.unit, r.c.number.Number = span.Unit, r.c.number.Number*span.Number
			give(at + 1)
		}
	case "point":
		for _, p := range r.pointsAt(at) {
			if r.c.np < 2 {
				r.c.points[r.c.np] = p.a
				r.c.np++
				give(p.end)
			}
		}
	default:
		r.fillTime(slot, at, give)
	}
	r.c = saved
}

// fillNumber reads a number in a form.
func (r *reader) fillNumber(at int, give func(int)) {
	if e, ok := r.count(at); ok {
		r.c.number = e
		give(e.Last + 1)
	}
}

func (r *reader) fillTime(slot string, at int, give func(int)) {
	switch slot {
	case "period":
		if first, last, end, _, ok := r.period(at); ok {
			r.c.period = [2]time.Time{first, last}
			give(end + 1)
		}
	case "hour", "hour_h":
		if slot == "hour_h" && (!r.d.Tokens[at].Is(tokenize.FormMixed) || !r.language.data.Times.H) {
			return
		}
		if hour, width, spelled, ok := r.hour(at); ok {
			r.c.hour, r.c.spelledHour = hour, spelled
			give(at + width)
		}
	case "minute":
		if n, err := strconv.Atoi(r.fold(at)); err == nil && n >= 0 && n < 60 {
			r.c.minute = n
			give(at + 1)
		}
	case "clock":
		if e, ok := r.clock(at); ok && r.c.nc < 2 {
			r.c.clocks[r.c.nc] = e
			r.c.nc++
			give(e.Last + 1)
		}
	}
}

// day reads a day of the month: 7, 7th, "seventh", or "seven" unless an ordinal is required.
func (r *reader) day(at int, ordinal bool) (day, width int, ok bool) {
	if v, width, ok := r.language.num.Ordinal(r.fold, at); ok && v <= 31 {
		return v, width, true
	}
	if day, marked, ok := r.dayDigits(at); ok {
		return day, 1, marked || !ordinal
	}
	if ordinal {
		return 0, 0, false
	}
	if n, ok := r.spelled(at); ok && n.Number >= 1 && n.Number <= 31 && n.Number == float64(int(n.Number)) {
		return int(n.Number), n.Last - at + 1, true
	}
	return 0, 0, false
}

// dayDigits reads a day in digits, and reports whether it is marked as an ordinal.
func (r *reader) dayDigits(at int) (day int, marked, ok bool) {
	if at >= len(r.d.Tokens) {
		return 0, false, false
	}
	t := r.d.Tokens[at]
	digits := t.Fold
	for _, ending := range r.language.num.Endings {
		if before, found := strings.CutSuffix(t.Fold, lexicon.Fold(ending)); found && before != "" {
			digits, marked = before, true
			break
		}
	}
	day, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 2 || day < 1 || day > 31 || r.partOfCode(at) {
		return 0, false, false
	}
	if behind := r.d.Src[t.End:]; strings.HasPrefix(behind, "°") || strings.HasPrefix(behind, "º") || strings.HasPrefix(behind, "ª") || r.language.data.Numbers.OrdinalDot && dotBehind(behind) {
		marked = true
	}
	return day, marked, true
}

// dotBehind reports whether a dot behind a number marks an ordinal.
func dotBehind(behind string) bool {
	return strings.HasPrefix(behind, ".") && !strings.HasPrefix(strings.TrimLeft(behind[1:], "0123456789"), ".") && (len(behind) == 1 || behind[1] < '0' || behind[1] > '9')
}

// partOfCode reports whether digits are joined with something other than another day.
func (r *reader) partOfCode(at int) bool {
	c, ok := r.d.ChunkOf(at)
	if !ok {
		return true
	}
	return c.Last > c.First && strings.ContainsFunc(c.Text, func(x rune) bool { return (x < '0' || x > '9') && !strings.ContainsRune("-.", x) }) ||
		strings.Count(c.Text, ".") > 1 || strings.HasPrefix(c.Text, "-")
}

func (r *reader) dayName(at int, slot string) (day time.Weekday, width int, ok bool) {
	if r.language.num.Paired(r.fold(at)) {
		if day, ok := r.language.days[r.fold(at)+" "+r.fold(at+1)]; ok {
			return day, 2, true
		}
	}
	if slot == "announced" {
		day, ok = r.language.announced[r.fold(at)]
		return day, 1, ok && r.fold(at) != "" && (r.stops(at+1) || r.d.spaced[at+1].word.In(r.language.index, lexicon.Value))
	}
	day, ok = r.language.days[r.fold(at)]
	return day, 1, ok
}

// hour reads 15, "15h" for a language with that format, and "three".
func (r *reader) hour(at int) (hour, width int, spelled, ok bool) {
	if c, ok := r.d.ChunkOf(at); !ok || c.First != at || c.Last != at {
		return 0, 0, false, false // part of a time such as 10:30
	}
	digits := strings.TrimSuffix(r.fold(at), "h")
	if digits != r.fold(at) && !r.language.data.Times.H {
		return 0, 0, false, false
	}
	if hour, err := strconv.Atoi(digits); err == nil {
		return hour, 1, false, hour >= 0 && hour <= 24 && len(digits) <= 2
	}
	n, found := r.spelled(at)
	if !found || n.Number < 0 || n.Number > 24 || n.Number != float64(int(n.Number)) {
		return 0, 0, false, false
	}
	return int(n.Number), n.Last - at + 1, true, true
}

// stops reports whether no unit or counted noun follows.
func (r *reader) stops(i int) bool {
	if i >= len(r.d.Tokens) || r.d.Tokens[i].Break {
		return i == 0 || !signBehind(r.d.Src[r.d.Tokens[i-1].End:])
	}
	if before := r.d.Src[r.d.Tokens[i-1].End:]; signBehind(before) {
		return false
	}
	t := r.d.Tokens[i]
	if _, unit := r.language.units[t.Fold]; unit || t.Is(tokenize.FormDigits|tokenize.FormMixed) {
		return false
	}
	return t.Has(lexicon.Function) || t.Has(lexicon.Filler) || t.Has(lexicon.Pronoun)
}

// signBehind reports whether a percent or currency sign follows a number.
func signBehind(behind string) bool {
	behind = strings.TrimLeft(behind, " \u00a0\u202f")
	if strings.HasPrefix(behind, "%") {
		return true
	}
	return slices.ContainsFunc(currencySigns(), func(s currencySign) bool { return strings.HasPrefix(behind, s.sign) })
}

// counts reports whether a word makes a number of units an amount.
func (r *reader) counts(i int) bool {
	if i >= len(r.d.Tokens) || r.d.Tokens[i].Break {
		return false
	}
	return r.d.Tokens[i].Has(lexicon.Counted)
}

// pointsAt returns the dates that begin at a token, for use as ends of a range.
func (r *reader) pointsAt(at int) []reading {
	if out, ok := r.points[at]; ok {
		return out
	}
	if r.points == nil {
		r.points = map[int][]reading{}
	}
	r.points[at] = nil // a date does not contain itself
	saved := r.classes
	r.classes = [periodRule + 1]bool{dayRule: true, edgeRule: true}
	var out []reading
	if best, ok := r.best(at); ok {
		out = append(out, best)
	}
	if c, ok := r.d.ChunkAt(at); ok {
		if e, ok := numericDate(c, r.now, r.language.data.Dates.Order, r.language.data.Dates.Dotted); ok && (len(out) == 0 || e.Last >= out[0].end) {
			out = []reading{{a: e, end: e.Last + 1}}
		}
	}
	r.classes = saved
	r.points[at] = out
	return out
}

// best returns the longest reading at a token by the selected rules.
func (r *reader) best(at int) (reading, bool) {
	best, found := reading{}, false
	if at >= len(r.d.Tokens) {
		return best, false
	}
	try := func(k int) {
		rule := &r.language.rules[k]
		if !r.classes[rule.class] {
			return
		}
		saved := r.c
		r.c = captures{from: -1, second: -1}
		lexicon.Walk(rule.form, r.d.spaced, at, r, func(end int) {
			if out, ok := r.build(rule, at, end); ok && (!found || out.end > best.end) {
				best, found = out, true
			}
		})
		r.c = saved
	}
	for _, k := range r.language.byWord[r.fold(at)] {
		try(k)
	}
	for _, slot := range slots() {
		rules := r.language.bySlot[slot]
		if len(rules) > 0 && r.begins(slot, at) {
			for _, k := range rules {
				try(k)
			}
		}
	}
	return best, found
}

// build builds the value of a form that matches up to end.
func (r *reader) build(rule *rule, at, end int) (reading, bool) {
	saved := r.c
	defer func() { r.c = saved }()
	if rule.class <= rangeRule && r.c.nm > 0 && r.c.year == 0 {
		end = r.withYear(end)
	}
	r.c.end = end
	a, b, ok := rule.make(r, &r.c)
	if !ok {
		return reading{}, false
	}
	first := at
	if rule.bare && r.c.from >= 0 {
		first = r.c.from
	}
	a.First, a.Last = first, end-1
	if rule.class < rangeRule || rule.class == clockRule {
		return reading{a: a, end: end}, true
	}
	if rule.class == rangeRule && r.c.np == 1 && r.c.second < 0 {
		now := min(at+1, r.c.from-1) // behind a word such as "from"
		a.First, a.Last, b.First, b.Last = now, now, r.c.from, end-1
		return reading{a: a, b: b, pair: true, end: end}, true
	}
	a.Last = r.c.behind - 1
	b.First, b.Last = r.secondFrom(), end-1
	return reading{a: a, b: b, pair: true, end: end}, true
}

// secondFrom returns where the second end of a range begins.
func (r *reader) secondFrom() int {
	if r.c.np == 2 || r.c.nc == 2 || r.c.nm == 0 || r.c.second < 0 {
		return r.c.second
	}
	return max(r.c.second, r.c.behind)
}

// withYear adds the year behind a date.
func (r *reader) withYear(end int) int {
	last := end
	for _, f := range r.language.year {
		lexicon.Walk(f, r.d.spaced, end, r, func(next int) {
			if next > last {
				last = next
				year, _ := yearOf(r.fold(next - 1))
				r.c.year = year
			}
		})
	}
	if last > end {
		r.c.year, _ = yearOf(r.fold(last - 1))
	}
	return last
}

// begins reports whether a slot can begin at a token.
func (r *reader) begins(slot string, at int) bool {
	switch slot {
	case "weekday", "announced":
		_, _, ok := r.dayName(at, slot)
		return ok
	case "month":
		_, ok := r.language.months[r.fold(at)]
		return ok
	case "point":
		return len(r.pointsAt(at)) > 0
	case "unit":
		_, ok := r.language.units[r.fold(at)]
		return ok
	}
	return r.d.Tokens[at].Is(tokenize.FormDigits|tokenize.FormMixed) || r.language.num.MayBegin(r.fold(at))
}
