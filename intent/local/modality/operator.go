package modality

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/values"
)

// near is the maximum distance in tokens between an operator and its operand.
const near = 3

// operators classifies the operators of a run. None is ever filler: it agrees with its parameter,
// is part of how the capability is asked for, or is binding.
func (a *roleReading) operators(from, to int) {
	for i := from; i < to; {
		hit, ok := a.operator(i, to)
		if !ok || i+hit.Tokens > to {
			i++
			continue
		}
		a.operate(hit, i, from, to)
		a.Operated = a.Operated || a.Classes[i] == contracts.WordUnresolved
		i += max(hit.Tokens, 1)
	}
}

func (a *roleReading) operate(hit lexicon.Hit[lexicon.Operator], i, from, to int) {
	behind := i + hit.Tokens
	if a.overlaps(i, i+1) || a.overlaps(behind-1, behind) { // part of a value, as "over" in "goes over"
		a.set(i, behind, contracts.WordCommand)
		return
	}
	switch hit.Value {
	case lexicon.NotMeant:
		a.Retracted = true
		a.set(i, behind, contracts.WordUnresolved)
	case lexicon.Above, lexicon.Below, lexicon.AtLeast, lexicon.AtMost:
		a.compare(hit, i, to)
	case lexicon.Around:
		if a.figure(behind, to) {
			a.bind(i, behind, from)
		}
	case lexicon.Until, lexicon.Before, lexicon.After:
		a.bound(hit, i, from, to)
	case lexicon.Except, lexicon.Instead, lexicon.Without:
		a.Excepted = a.Excepted || hit.Value == lexicon.Except
		a.markMisused(behind, to)
		a.bind(i, behind, from)
	case lexicon.Unless, lexicon.Provided:
		if a.excused(hit, i) || hit.Value == lexicon.Provided && a.own(behind, to) {
			return
		}
		a.markMisused(behind, to)
		a.bind(i, to, from)
	case lexicon.Again: // resetting what was set up
		if a.kinds&(lexicon.KindOf("delete")|lexicon.KindOf("cancel")|lexicon.KindOf("stop")) == 0 && !a.excused(hit, i) && !a.known(i, behind) {
			a.bind(i, behind, from)
			return
		}
		a.set(i, behind, contracts.WordCommand)
	case lexicon.Likewise:
		if between(a, i, behind) {
			a.set(i, behind, contracts.WordCommand)
		} else if !a.excused(hit, i) && !a.known(i, behind) {
			a.bind(i, behind, from)
		}
	case lexicon.Order:
		if !a.excused(hit, i) && !a.known(i, behind) && !a.Knows.Describes(a.m.Tokens[i]) {
			a.bind(i, behind, from)
		}
	default:
		if !a.excused(hit, i) && !a.known(i, behind) {
			a.bind(i, behind, from)
		}
	}
}

// between reports whether an operator joins two values of this or another request: "al-2 as well
// as al-4" is a list.
func between(a *roleReading, first, behind int) bool {
	taken := func(i int) bool {
		return i >= 0 && i < len(a.Classes) && (a.Classes[i] == contracts.WordValue || a.Classes[i] == contracts.WordOther)
	}
	return taken(first-1) && taken(behind)
}

// own reports whether a condition is the purpose of the capability: "as soon as it rises above 45"
// holds the threshold of an alert.
func (a *roleReading) own(from, to int) bool {
	return a.valueLike(func(v RoleValue) bool { return v.Up != 0 && v.First >= from && v.First < to })
}

func (a *roleReading) overlaps(from, to int) bool {
	for i := from; i < to; i++ {
		if a.Classes[i] == contracts.WordValue {
			return true
		}
	}
	return false
}

// known reports whether all tokens are request words: "last" in "last name".
func (a *roleReading) known(from, to int) bool {
	for i := from; i < to; i++ {
		if !a.Knows.Head(a.m.Tokens[i]) {
			return false
		}
	}
	return true
}

// compare checks a comparator against the parameter of its number. "Below" never fills the lower
// end.
func (a *roleReading) compare(hit lexicon.Hit[lexicon.Operator], i, to int) {
	behind := i + hit.Tokens
	v, ok := a.next(behind, to)
	if at := slices.IndexFunc(a.Values, func(v RoleValue) bool { return v.Last == i-1 && v.Up != 0 }); !ok && at >= 0 && (behind == to || a.m.Tokens[behind].Break) {
		v, ok = a.Values[at], true // object before the verb: "sobald der Kurs die 40 übersteigt"
	}
	switch {
	case ok && v.Up == hit.Value.Direction():
		a.set(i, behind, contracts.WordCommand)
	case ok && v.Up != 0:
		a.Misused = append(a.Misused, v.Parameter)
		a.set(i, behind, contracts.WordUnresolved)
	case ok && a.number(v.First), a.figure(behind, to):
		if !a.excused(hit, i) {
			a.set(i, behind, contracts.WordUnresolved)
		}
	case hit.Tokens > 1 && !a.excused(hit, i):
		a.set(i, behind, contracts.WordUnresolved)
	}
}

// bound checks "until", "before" and "after" against the date behind them.
func (a *roleReading) bound(hit lexicon.Hit[lexicon.Operator], i, from, to int) {
	behind := i + hit.Tokens
	v, ok := a.next(behind, to)
	if ok && (hit.Value == lexicon.After && v.Start || hit.Value != lexicon.After && (v.End || a.ends(v))) {
		a.set(i, behind, contracts.WordCommand)
		return
	}
	if ok && a.excused(hit, i) {
		a.set(i, behind, contracts.WordCommand)
		return
	}
	if ok {
		a.Misused = append(a.Misused, v.Parameter)
	}
	// "before outreach" is no date, but part of an example.
	if hit.Tokens++; !ok && behind < to && a.excused(hit, i) {
		a.set(i, behind+1, contracts.WordCommand)
		return
	}
	a.bind(i, behind, from)
}

// ends reports whether a value was read from the end of a period: "until the 5th" may give a
// number of days.
func (a *roleReading) ends(v RoleValue) bool {
	return slices.ContainsFunc(a.m.entities, func(e values.Entity) bool { return e.First == v.First && e.Edge == values.End })
}

// markMisused marks the values behind an operator that excludes them.
func (a *roleReading) markMisused(from, to int) {
	for _, v := range a.Values {
		if v.First >= from && v.First < to && !slices.Contains(a.Misused, v.Parameter) {
			a.Misused = append(a.Misused, v.Parameter)
		}
	}
}

// next returns the value behind a token, with only function words in between.
func (a *roleReading) next(from, to int) (RoleValue, bool) {
	for i := from; i < min(to, from+near); i++ {
		for _, v := range a.Values {
			if v.First == i {
				return v, true
			}
		}
		if !a.m.isFunctionWord(i) && a.Classes[i] == "" && !a.Knows.Head(a.m.Tokens[i]) {
			break
		}
	}
	return RoleValue{}, false
}

// figure reports whether a number or date follows a token.
func (a *roleReading) figure(from, to int) bool {
	for i := from; i < min(to, from+2); i++ {
		if a.m.inEntity[i] {
			return true
		}
	}
	return false
}

func (a *roleReading) number(i int) bool {
	return slices.ContainsFunc(a.m.entities, func(e values.Entity) bool { return e.Kind == values.Number && e.First <= i && i <= e.Last })
}
