package grounding

import (
	"math/big"
	"slices"
	"strings"
)

// working is a calculation in a sentence: "3 × 48 = 144". The operands must be in the sources, and
// the result must be correct.
type working struct {
	// from is the first token, to the token of the result.
	from, to int
	of       *big.Rat
	units    []string
	// clock means that the result is a time.
	clock bool
}

// work parses the calculations of a sentence. A wrong result is an ungrounded number.
func (c *check) work() Kind {
	for i, t := range c.tokens {
		if t.text != "=" || c.isQuoted(t) {
			continue
		}
		w, ok := workingBefore(c, i)
		if !ok {
			continue
		}
		if !w.comesOut(c) {
			return KindNumber
		}
		c.workings = append(c.workings, w)
	}
	return ""
}

// workingBefore parses the calculation before an equals sign, and finds its result.
func workingBefore(c *check, equals int) (working, bool) {
	w := working{from: beginOf(c.tokens, equals), to: equals + 1}
	for w.from < equals && operator(c.tokens[w.from]) != 0 {
		w.from++
	}
	for w.to < len(c.tokens) && currency(unitOf(c.tokens[w.to].fold)) {
		w.to++
	}
	if w.from == equals || w.to == len(c.tokens) || c.tokens[w.to].kind != kindNumber && c.tokens[w.to].kind != kindClock {
		return w, false
	}
	p := arithmetic{c: c, at: w.from, end: equals}
	of, ok := p.sum()
	if !ok || p.at != equals || p.operands < 2 {
		return w, false
	}
	w.of, w.units, w.clock = of, p.units, p.clock
	return w, true
}

// beginOf returns the first token of the calculation that ends at a token.
func beginOf(tokens []token, end int) int {
	open, at := 0, end
	for k := end - 1; k >= 0; k-- {
		t := tokens[k]
		switch {
		case t.text == ")":
			open++
		case t.text == "(":
			open--
		case t.kind == kindNumber, t.kind == kindClock, operator(t) != 0, unitOf(t.fold) != "" && t.kind != kindDate:
		default:
			return at
		}
		if open < 0 {
			return at
		}
		if open == 0 {
			at = k
		}
	}
	return at
}

// operator returns the operator of a token, 0 for none.
func operator(t token) rune {
	switch t.fold {
	case "+":
		return '+'
	case "-", "−", "–":
		return '-'
	case "*", "×", "·", "x":
		return '*'
	case "/", "÷":
		return '/'
	}
	return 0
}

func (w working) comesOut(c *check) bool { return w.gives(c, c.tokens[w.to], c.tokens[w.to].number) }

func (w working) value() value {
	return value{of: []*big.Rat{w.of}, decimals: 3, units: w.units}
}

// workedOut reports whether a token is the result of a calculation, or a calendar constant in one:
// a week has 7 days.
func (c *check) workedOut(i int) bool {
	return slices.ContainsFunc(c.workings, func(w working) bool {
		return i == w.to || i >= w.from && i < w.to && c.tokens[i].kind == kindNumber && calendar(c.g, c.tokens[i].number)
	})
}

// gives reports whether a number or time is the result of the calculation.
func (w working) gives(c *check, t token, n number) bool {
	if w.clock {
		return t.kind == kindClock && w.of.Cmp(minutes(t.date.clock)) == 0
	}
	return t.kind != kindClock && n.is(w.value()) && c.unitFits(n, w.value())
}

// result reports whether a number or time is the result of a calculation in the sentence.
func (c *check) result(t token, n number) bool {
	return slices.ContainsFunc(c.workings, func(w working) bool { return w.gives(c, t, n) })
}

// calendar reports whether a number is a calendar constant, such as the days of a week, of a unit
// that the sources use.
func calendar(g *Ground, n number) bool {
	for unit, parts := range map[string]int64{"week": 7, "year": 12, "day": 24, "hour": 60} {
		if g.units[unit] && n.is(value{of: []*big.Rat{big.NewRat(parts, 1)}}) {
			return true
		}
	}
	return false
}

// placeNumber accepts a number of some rows. In a calculation it may belong to anything that the
// sentence names.
func placeNumber(c *check, i int, rows []int) Kind {
	inside := slices.ContainsFunc(c.workings, func(w working) bool { return i >= w.from && i < w.to })
	if inside && slices.ContainsFunc(c.named, func(l label) bool { return c.belongs(l.rows(), rows) }) {
		c.rest(rows...)
		return ""
	}
	return c.place(i, rows)
}

// minutes returns the minutes since midnight.
func minutes(clock string) *big.Rat {
	hour, minute, _ := strings.Cut(clock, ":")
	return big.NewRat(int64(60*atoi(hour)+atoi(minute)), 1)
}

// arithmetic parses a calculation. Times can only be subtracted.
type arithmetic struct {
	c        *check
	at, end  int
	operands int
	units    []string
	clock    bool
}

func (p *arithmetic) next() rune {
	if p.at >= p.end {
		return 0
	}
	return operator(p.c.tokens[p.at])
}

func (p *arithmetic) sum() (*big.Rat, bool) {
	out, ok := p.product()
	for op := p.next(); ok && (op == '+' || op == '-'); op = p.next() {
		p.at++
		var by *big.Rat
		if by, ok = p.product(); !ok {
			break
		}
		if op == '-' {
			by = new(big.Rat).Neg(by)
		}
		out = new(big.Rat).Add(out, by)
		ok = !p.clock || op == '-' && p.operands == 2 && out.Sign() > 0
	}
	return out, ok
}

func (p *arithmetic) product() (*big.Rat, bool) {
	out, ok := p.operand()
	for op := p.next(); ok && (op == '*' || op == '/'); op = p.next() {
		p.at++
		var by *big.Rat
		if by, ok = p.operand(); !ok || p.clock || op == '/' && by.Sign() == 0 {
			return nil, false
		}
		if op == '/' {
			by = new(big.Rat).Inv(by)
		}
		out = new(big.Rat).Mul(out, by)
	}
	return out, ok
}

// operand parses a number with its unit, a time, or a calculation in brackets.
func (p *arithmetic) operand() (*big.Rat, bool) {
	for p.at < p.end && currency(unitOf(p.c.tokens[p.at].fold)) {
		p.at++
	}
	if p.at >= p.end {
		return nil, false
	}
	t := p.c.tokens[p.at]
	p.at++
	switch {
	case t.text == "(":
		out, ok := p.sum()
		if !ok || p.at >= p.end || p.c.tokens[p.at].text != ")" {
			return nil, false
		}
		p.at++
		return out, true
	case t.kind == kindClock:
		if p.operands++; p.operands > 1 && !p.clock {
			return nil, false
		}
		p.clock = true
		return minutes(t.date.clock), true
	case t.kind != kindNumber || len(t.number.values) != 1 || p.clock:
		return nil, false
	}
	p.operands++
	p.takeUnits(t.number)
	for p.at < p.end && unitOf(p.c.tokens[p.at].fold) != "" && operator(p.c.tokens[p.at]) == 0 {
		p.at++
	}
	if t.number.unit == percent {
		return new(big.Rat).Quo(t.number.values[0], big.NewRat(100, 1)), true
	}
	return t.number.values[0], true
}

// takeUnits adds the stated unit of a number and its units in the sources.
func (p *arithmetic) takeUnits(n number) {
	units := []string{n.unit}
	for _, v := range p.c.g.values {
		if n.is(v) {
			units = append(units, v.units...)
		}
	}
	for _, u := range units {
		if u != "" && u != percent && !slices.Contains(p.units, u) {
			p.units = append(p.units, u)
		}
	}
}
