package slots

import (
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// chunk adds candidate spans for a run of content words: its capitalised runs, the part outside
// the vocabulary, and the whole run. It returns the span that is most likely a list item.
func (f *field) chunk(first, last int) span {
	item := f.capitals(first, last)
	a, b := first, last
	for a < b && (f.known(a) || f.set.tools.cues.Code[f.doc.Tokens[a].Stem]) && !f.capital(a) {
		a++
	}
	for b > a && f.known(b) && !f.capital(b) {
		b--
	}
	if a < b && f.beginsWithVerb(a) {
		a++
		f.add(span{first: a - 1, last: b})
	}
	if a < b && f.participle(b) && !f.capital(b) {
		f.add(span{first: a, last: b - 1, proper: f.properRun(a, b-1)}) // "the batteries made by"
	}
	core := f.add(span{first: a, last: b, proper: f.properRun(a, b)})
	if a > first {
		f.add(span{first: first, last: b, proper: f.properRun(first, b)})
	}
	if b < last {
		f.add(span{first: a, last: last, proper: f.properRun(a, last)})
	}
	f.bridge(a, last)
	if item != nil {
		return *item
	}
	return core
}

// capitals adds the capitalised runs as candidates and returns the first one.
func (f *field) capitals(first, last int) *span {
	var item *span
	for i := first; i <= last; i++ {
		if !f.capital(i) {
			continue
		}
		end := i
		for end < last && (f.capital(end+1) || f.doc.Tokens[end+1].Is(tokenize.FormDigits) || f.doc.Tokens[end+1].Glued) {
			end++
		}
		for i > first && f.doc.Tokens[i].Glued && (f.doc.Tokens[i-1].Is(tokenize.FormDigits) || f.doc.Tokens[i-1].Glued || i-1 == first) {
			i-- // "2022/A-17" begins with digits
		}
		s := f.name(i, end, last)
		if item == nil {
			item = &s
		}
		i = end
	}
	return item
}

// beginsWithVerb reports whether a token is probably a verb outside the vocabulary: it begins a
// sentence, or stands where a verb does ("who", "to").
func (f *field) beginsWithVerb(i int) bool {
	return !f.known(i) && !f.capital(i) && (f.doc.Tokens[i].Is(tokenize.FormFirst) && !f.capital(i+1) || f.verbPlace(i))
}

// known reports whether a token belongs to the vocabulary of this request or to that of any
// request, such as "details".
func (f *field) known(i int) bool {
	return f.spelling.Familiar(i) || f.set.tools.cues.Generic[f.doc.Tokens[i].Stem]
}

// properRun reports whether all tokens of a run are written as a name.
func (f *field) properRun(first, last int) bool {
	for i := first; i <= last; i++ {
		t := f.doc.Tokens[i]
		if !f.capital(i) && !t.Is(tokenize.FormDigits) && (!t.Glued || i == first) {
			return false
		}
	}
	if f.common(first, last) {
		return false
	}
	return !f.doc.Tokens[first].Is(tokenize.FormDigits)
}

// name adds a capitalised run as a candidate, alone and with the words that may belong to it.
func (f *field) name(first, last, chunkLast int) span {
	severed := f.innerCost[first]
	if (last == chunkLast || f.set.tools.cues.Particle[f.doc.Tokens[last+1].Fold]) && !f.common(first, last) {
		if end, worth := f.overParticle(last); worth > 0 {
			f.add(span{first: first, last: end, proper: true, bridged: true})
			severed += worth
		}
	}
	if end := last + 1; end < f.to && f.doc.Tokens[end].Fold == "s" && f.doc.Tokens[end].Glued && (end+1 == f.to || !f.follows(end+1)) {
		f.add(span{first: first, last: end, proper: true}) // "at Harrod's"
	}
	tail, begins := last, f.spelling.BeginsName(first)
	for tail < chunkLast && !f.known(tail+1) && !begins { // a verb follows the name that begins a sentence
		tail++
	}
	s := f.add(span{first: first, last: last, proper: !f.common(first, last), cut: tail - last, severed: severed})
	if tail > last {
		f.add(span{first: first, last: tail})
	}
	if f.doc.Tokens[first].Is(tokenize.FormFirst) && first < last && !begins {
		f.add(span{first: first + 1, last: last, proper: true})
	}
	return s
}

// overParticle extends a name over particles such as "of" or "da" to more capitals. worth is the
// cost of leaving out the extension; it is lower for "of", which also joins two names.
func (f *field) overParticle(last int) (end, worth int) {
	end = last
	for end < last+MaxNameTokens {
		j, own := end+1, 1
		for j < f.to && j <= end+2 && !f.doc.Tokens[j].Break && f.set.tools.cues.Particle[f.doc.Tokens[j].Fold] {
			if f.doc.Tokens[j].Fold != "of" {
				own = 2
			}
			j++
		}
		if j == end+1 || j >= f.to || f.doc.Tokens[j].Break || !f.content(j) || !f.capital(j) {
			return end, worth
		}
		f.innerCost[j] = own
		end, worth = j, max(worth, own)
		for end+1 < f.to && f.follows(end+1) && f.capital(end+1) {
			end++
		}
	}
	return end, worth
}

// common reports whether a span is a single noun behind an article or a number, which has its
// capital only for being a noun, as in German.
func (f *field) common(first, last int) bool {
	if first != last || first == f.from {
		return false
	}
	before := f.doc.Tokens[first-1]
	return !f.doc.Tokens[first].Break && (f.set.tools.cues.Capitalising[before.Fold] || f.inEntity[first-1])
}

// bridge adds lower-case words joined by "of" or "de" as one candidate: "theory of numbers".
func (f *field) bridge(first, last int) {
	j := last + 1
	if j+1 >= f.to || f.doc.Tokens[j].Break || f.doc.Tokens[j].Fold != "of" && f.doc.Tokens[j].Fold != "de" {
		return
	}
	if !f.follows(j + 1) {
		return
	}
	end := j + 1
	for end+1 < f.to && f.follows(end+1) {
		end++
	}
	for end > j+1 && f.known(end) {
		end--
	}
	f.add(span{first: first, last: end, bridged: true, proper: f.properRun(first, last) && f.properRun(j+1, end)})
}
