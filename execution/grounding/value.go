package grounding

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// days checks that dates, weekdays and times are in the sources.
func (c *check) days() Kind {
	for i, t := range c.tokens {
		if t.kind != kindDate && t.kind != kindClock || c.isQuoted(t) {
			continue
		}
		if c.workedOut(i) || t.date.month == 0 && c.result(t, number{}) {
			continue
		}
		var rows []int
		for _, d := range c.g.dates {
			if c.sameDay(i, t.date, d.date) || t.date.clock != "" && d.clock == "" && c.sameDay(i, t.date.without(), d.date) && c.g.atTime(d.text, t.date.clock) {
				rows = append(rows, d.row)
			}
		}
		if len(rows) == 0 {
			return KindDate
		}
		if kind := c.place(i, rows); kind != "" {
			return kind
		}
	}
	return ""
}

// sameDay reports whether a date of the sentence matches one of a source. A weekday beside a date
// must be the weekday of the date.
func (c *check) sameDay(i int, said, found date) bool {
	switch {
	case said.relative != "":
		return said.relative == found.relative
	case said.weekday > 0:
		if beside := c.dateBeside(i); beside.day > 0 {
			return beside.onDay(found) && found.weekdayOf() == said.weekday
		}
		return said.weekday == found.weekday || said.weekday == found.weekdayOf()
	case said.month == 0 && said.year == 0:
		return said.clock != "" && said.clock == found.clock
	case said.clock != "" && said.clock != found.clock:
		return false
	}
	return found.month > 0 && said.onDay(found)
}

// dateBeside returns the date next to a weekday.
func (c *check) dateBeside(i int) date {
	for _, k := range []int{i + 1, i + 2, i + 3, i - 1, i - 2} {
		if k < 0 || k >= len(c.tokens) {
			continue
		}
		if t := c.tokens[k]; t.kind == kindDate && t.date.day > 0 {
			return t.date
		}
	}
	return date{}
}

// place accepts a value of some rows if it can belong to the subject of its clause.
func (c *check) place(i int, rows []int) Kind {
	subject := c.subject(c.clause(i))
	if len(subject) == 0 {
		c.rest(rows...)
		return ""
	}
	if !c.belongs(subject, rows) { // also if a text outside of the list mentions it
		return KindElsewhere
	}
	var fits []int
	for _, r := range rows {
		if c.belongs(subject, []int{r}) {
			fits = append(fits, r)
		}
	}
	c.rest(fits...)
	return ""
}

// numbers checks that numbers, in digits and in words, are in the sources or follow from values
// there.
func (c *check) numbers() Kind {
	for i, t := range c.tokens {
		n := t.number
		switch {
		case c.isQuoted(t):
			continue
		case c.isCardinal(i):
			n = number{values: []*big.Rat{new(big.Rat).SetInt64(cardinal[t.fold])}}
			n.behind(c.tokens, i)
		case t.kind == kindWord && multiplied(t.fold) && !c.g.known[t.fold]:
			return KindNumber
		case t.kind == kindWord && c.otherUnit(t):
			return KindUnit
		case t.kind == kindNumber:
		default:
			continue
		}
		if c.workedOut(i) {
			continue
		}
		if kind := c.number(i, n); kind != "" {
			return kind
		}
	}
	return ""
}

// otherUnit reports whether a word is a unit that no source uses.
func (c *check) otherUnit(t token) bool {
	u := unitOf(t.fold)
	return u != "" && len(t.fold) > 2 && !c.g.units[u] && !c.g.known[t.fold] && !ambiguousUnit(t.fold)
}

// isCardinal reports whether a token is a number word: at the start of the sentence or in lower
// case.
func (c *check) isCardinal(i int) bool {
	t := c.tokens[i]
	if t.kind != kindWord || cardinal[t.fold] == 0 || i > 0 && t.capital() {
		return false
	}
	return i == 0 || !slices.Contains([]string{"per", "por", "pour"}, c.tokens[i-1].fold)
}

// number finds the origin of a number: a value of a source with its unit, a year, a count, or a sum
// or difference of values that the sentence mentions.
func (c *check) number(i int, n number) Kind {
	if n.exact != "" {
		if places := c.g.words[n.exact]; len(places) > 0 {
			return c.place(i, rowsOf(places))
		}
		return KindNumber
	}
	otherUnit := false
	var rows []int
	for _, v := range c.g.values {
		switch {
		case !n.is(v):
		case !c.unitFits(n, v):
			otherUnit = true
		default:
			rows = append(rows, v.row)
		}
	}
	elsewhere := false
	if len(rows) > 0 {
		kind := placeNumber(c, i, rows)
		if kind == "" {
			return ""
		}
		elsewhere = true
	}
	if rows := c.follows(i, n); len(rows) > 0 {
		c.rest(rows...)
		return ""
	}
	if c.result(c.tokens[i], n) {
		return ""
	}
	switch {
	case elsewhere:
		return KindElsewhere
	case otherUnit:
		return KindUnit
	default:
		return KindNumber
	}
}

// is reports whether a number equals a value, exactly or rounded to two decimals.
func (n number) is(v value) bool {
	for _, said := range n.values {
		for _, found := range v.of {
			if said.Cmp(found) == 0 {
				return true
			}
			if n.decimals == 2 && v.decimals > 2 && said.FloatString(2) == found.FloatString(2) {
				return true
			}
		}
	}
	return false
}

// unitFits reports whether the stated unit can be that of a value. A value without a unit matches
// any unit of the sources. A percentage does not match a plain number.
func (c *check) unitFits(n number, v value) bool {
	switch {
	case n.unit == "":
		return !slices.Equal(v.units, []string{percent}) || slices.ContainsFunc(c.tokens, func(t token) bool { return t.number.unit == percent })
	case len(v.units) > 0:
		return slices.Contains(v.units, n.unit)
	default:
		return c.g.units[n.unit]
	}
}

// follows returns the rows that a number is derived from.
func (c *check) follows(i int, n number) []int {
	if rows := c.year(n); len(rows) > 0 {
		return rows
	}
	if rows := c.count(i, n); len(rows) > 0 {
		return rows
	}
	for _, column := range c.columns() {
		if rows := c.computed(i, n, column); len(rows) > 0 {
			return rows
		}
	}
	return nil
}

func (c *check) year(n number) (rows []int) {
	if n.unit != "" || len(n.values) != 1 {
		return nil
	}
	for _, d := range c.g.dates {
		if d.year > 0 && n.values[0].Cmp(new(big.Rat).SetInt64(int64(d.year))) == 0 {
			rows = append(rows, d.row)
		}
	}
	return rows
}

// count returns the items of a list with that length. It does not apply to one of its items.
func (c *check) count(i int, n number) []int {
	if n.unit != "" || n.decimals > 0 {
		return nil
	}
	said := func(count int) bool { return n.is(value{of: []*big.Rat{new(big.Rat).SetInt64(int64(count))}}) }
	subject := c.subject(c.clause(i))
	for _, l := range c.g.lists {
		if rows := c.alike(l, said); len(rows) > 0 {
			return rows
		}
		inList := slices.ContainsFunc(subject, func(r int) bool { return c.g.inGroup(r, l.group) >= 0 })
		if inList || len(l.items) < 2 || !said(len(l.items)) {
			continue
		}
		return l.items
	}
	return nil
}

// alike returns the items of a list that share a text with the sentence, if their number is the
// stated one.
func (c *check) alike(l list, said func(count int) bool) []int {
	by := map[string][]int{}
	for _, t := range c.g.texts {
		if slices.Contains(l.items, t.row) {
			by[t.plain] = append(by[t.plain], t.row)
		}
	}
	sentence := squeezed(c.said)
	for _, plain := range slices.Sorted(maps.Keys(by)) {
		rows := by[plain]
		at := strings.Index(sentence, plain)
		if len(plain) > 1 && at >= 0 && bounded(sentence, at, at+len(plain)) && len(rows) > 1 && said(len(rows)) {
			return rows
		}
	}
	return nil
}

// columns returns the values of the same name, in lists of two or more.
func (c *check) columns() [][]value {
	byName := map[string][]value{}
	var names []string
	for _, v := range c.g.values {
		if v.column == "" {
			continue
		}
		if byName[v.column] == nil {
			names = append(names, v.column)
		}
		byName[v.column] = append(byName[v.column], v)
	}
	var out [][]value
	for _, name := range names {
		if len(byName[name]) > 1 {
			out = append(out, byName[name])
		}
	}
	return out
}

// computed returns the rows of a column whose sum is the number, or of the values that the sentence
// mentions, whose sum or difference is the number. Percentages are not added, and the sum of all is
// not attributed to one item.
func (c *check) computed(i int, n number, column []value) []int {
	if !c.unitFits(n, column[0]) {
		return nil
	}
	rows := func(of []value) (rows []int) {
		for _, v := range of {
			rows = append(rows, v.row)
		}
		return rows
	}
	subject := c.subject(c.clause(i))
	ofOne := slices.ContainsFunc(subject, func(r int) bool { return c.g.inGroup(r, c.g.rows[column[0].row].group) >= 0 })
	added := n.unit != percent && !slices.Contains(column[0].units, percent)
	if added && !ofOne && n.is(value{of: []*big.Rat{sum(column)}}) {
		return rows(column)
	}
	var spoken []value
	for _, v := range column {
		if c.speaksOf(i, v) {
			spoken = append(spoken, v)
		}
	}
	if added && len(spoken) > 1 && n.is(value{of: []*big.Rat{sum(spoken)}}) {
		return rows(spoken)
	}
	for k, a := range spoken {
		for _, b := range spoken[k+1:] {
			d := new(big.Rat).Sub(a.of[0], b.of[0])
			if n.is(value{of: []*big.Rat{d.Abs(d)}}) {
				return rows([]value{a, b})
			}
		}
	}
	return nil
}

func sum(of []value) *big.Rat {
	out := new(big.Rat)
	for _, v := range of {
		out.Add(out, v.of[0])
	}
	return out
}

// speaksOf reports whether the sentence contains the value, other than at token i, or names its
// row.
func (c *check) speaksOf(i int, v value) bool {
	for k, t := range c.tokens {
		if k != i && t.kind == kindNumber && t.number.is(v) {
			return true
		}
	}
	return slices.ContainsFunc(c.named, func(l label) bool {
		return len(l.places) < 4 && slices.ContainsFunc(l.rows(), func(r int) bool { return r == v.row })
	})
}
