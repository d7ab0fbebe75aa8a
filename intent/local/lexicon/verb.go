package lexicon

import (
	"maps"
	"slices"
	"strings"
)

// Kinds is a bit set of verb kinds.
type Kinds uint32

// kinds returns the verb kinds of language files. Verbs of one kind are synonyms.
func kinds() []string {
	return []string{
		"delete", "cancel", "create", "change", "send", "notify", "request", "reserve", "show", "find", "start", "stop",
		"approve", "reject", "copy", "move", "compare", "compute", "fetch", "buy", "close", "assign", "extend", "record", "raise", "lower", "sell",
	}
}

// longestForm is the maximum length of a verb ending.
const longestForm = 4

// Kin returns the kinds of a verb, or 0 for other words.
func (l *Lexica) Kin(fold string) Kinds {
	kinds, _ := l.verb(fold)
	return kinds
}

// Root returns the stem of all forms of a verb, including clitics: "cambi" for "cámbiale"; "" for
// other words.
func (l *Lexica) Root(fold string) string {
	_, n := l.verb(fold)
	return fold[:n]
}

// verb returns the kinds of a verb and the length of its stem.
func (l *Lexica) verb(fold string) (out Kinds, stem int) {
	for n := len(fold); n >= 2 && len(fold)-n <= longestForm; n-- {
		for _, v := range l.verbs[fold[:n]] {
			if l.forms[v.language][fold[n:]] {
				out |= v.kinds
			}
		}
		if out != 0 {
			return out, n
		}
	}
	return 0, 0
}

// Acts reports whether a word is a verb form in a language.
func (l *Lexica) Acts(language int, fold string) bool {
	for n := len(fold); n >= 2 && len(fold)-n <= longestForm; n-- {
		if l.forms[language][fold[n:]] && slices.ContainsFunc(l.verbs[fold[:n]], func(v verbStem) bool { return v.language == language }) {
			return true
		}
	}
	return false
}

// Bends reports whether a word has a verb ending of a language.
func (l *Lexica) Bends(language int, fold string) bool {
	for n := max(1, len(fold)-longestForm); n < len(fold); n++ {
		if l.forms[language][fold[n:]] {
			return true
		}
	}
	return false
}

// KindOf returns a verb kind by its name, or 0.
func KindOf(name string) Kinds {
	for i, k := range kinds() {
		if k == name {
			return 1 << i
		}
	}
	return 0
}

// Asked returns the kinds that match a capability with a verb of these kinds: one that raises may
// be asked for as a change, but not one that lowers.
func (k Kinds) Asked() Kinds {
	if k&(KindOf("raise")|KindOf("lower")) != 0 {
		return k &^ KindOf("change")
	}
	return k
}

// ActionKinds returns the kinds of verbs that change something. Others show, find or compute, or
// are unspecific ("start", "send me the list").
func ActionKinds() (out Kinds) {
	for _, name := range []string{"delete", "cancel", "create", "change", "approve", "reject", "copy", "move", "buy", "reserve", "close", "assign", "extend", "record", "raise", "lower", "sell"} {
		out |= KindOf(name)
	}
	return out
}

// verbStem is a stem with the language of its endings.
type verbStem struct {
	language int
	kinds    Kinds
}

func (c *compiler) verbs(n int, f *file) {
	stems := map[string]Kinds{}
	for name, list := range f.Verbs {
		kind := KindOf(name)
		if kind == 0 {
			c.fail(f, "[verbs] has a kind %q that nothing reads", name)
		}
		for stem := range strings.FieldsSeq(list) {
			stems[Fold(stem)] |= kind
		}
	}
	for _, stem := range slices.Sorted(maps.Keys(stems)) {
		c.lexica.verbs[stem] = append(c.lexica.verbs[stem], verbStem{n, stems[stem]})
	}
	x := c.lexica
	for list, into := range map[string]*[]string{f.Infinitives: &x.infinitives, f.Gerunds: &x.gerunds, f.Suppositions: &x.suppositions} {
		for ending := range strings.FieldsSeq(list) {
			if ending = Fold(ending); !slices.Contains(*into, ending) {
				*into = append(*into, ending)
			}
		}
	}
	x.pasts = append(x.pasts, strings.Fields(f.Pasts))
	x.presents = append(x.presents, strings.Fields(f.Presents))
	forms := map[string]bool{"": true}
	c.lexica.forms = append(c.lexica.forms, forms)
	for form := range strings.FieldsSeq(f.Forms) {
		if len(form) > longestForm {
			c.fail(f, "forms: %q is longer than %d", form, longestForm)
		}
		forms[Fold(form)] = true
	}
}

// ToldOf reports whether a word is a verb in the past tense, with accents: "canceló" is, "cancelo"
// is not.
func (l *Lexica) ToldOf(language int, w Word) bool { return l.formed(language, w, l.pasts[language]) }

// TellsOf reports whether a word is a verb in the third person present.
func (l *Lexica) TellsOf(language int, w Word) bool {
	return l.formed(language, w, l.presents[language])
}

// EndsInPast reports whether a word has an ending of the past tense.
func (l *Lexica) EndsInPast(language int, w Word) bool {
	return ends(w.Lower, l.pasts[language], shortestStem)
}

func (l *Lexica) formed(language int, w Word, endings []string) bool {
	return slices.ContainsFunc(endings, func(e string) bool {
		stem := len(w.Fold) - len(Fold(e))
		return stem >= 2 && strings.HasSuffix(w.Lower, e) && slices.ContainsFunc(l.verbs[w.Fold[:stem]], func(v verbStem) bool { return v.language == language })
	})
}

// Hangs returns the length of the clitic of a verb in bytes: two in "rinominalo", none in
// "Angelo".
func (l *Lexica) Hangs(w Word) int {
	for _, e := range l.Words(Hung) {
		if verb, ok := strings.CutSuffix(w.Lower, e); ok && l.isForm(Fold(verb)) {
			return len(e)
		}
	}
	return 0
}

// isForm reports whether a word is a verb stem with an ending.
func (l *Lexica) isForm(fold string) bool {
	for n := shortestStem; n <= len(fold); n++ {
		if slices.ContainsFunc(l.verbs[fold[:n]], func(v verbStem) bool { return l.forms[v.language][fold[n:]] }) {
			return true
		}
	}
	return false
}

// Rooted reports whether a word is any form of a verb, including participles with a prefix or
// infix ("gelöscht", "eingerichtet").
func (l *Lexica) Rooted(language int, fold string) bool {
	for n := 3; n <= len(fold); n++ {
		for _, root := range []string{fold[:n], strings.Replace(fold[:n], "ge", "", 1)} {
			if len(root) >= 3 && slices.ContainsFunc(l.verbs[root], func(v verbStem) bool { return v.language == language }) {
				return true
			}
		}
	}
	return false
}

// Infinitive reports whether a word is an infinitive such as "apagar", "borrarla" or "mettre".
func (l *Lexica) Infinitive(fold string) bool { return ends(fold, l.infinitives, shortestVerb) }

// Gerund reports whether a word is a gerund such as "deleting".
func (l *Lexica) Gerund(fold string) bool { return ends(fold, l.gerunds, shortestStem) }

// Supposes reports whether a word is a conditional form such as "cancelaría".
func (l *Lexica) Supposes(fold string) bool { return ends(fold, l.suppositions, shortestStem+1) }

// shortestVerb is the minimum number of letters before an infinitive ending: "crear".
const shortestVerb = 2

func ends(fold string, endings []string, stem int) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return len(fold) >= len(e)+stem && strings.HasSuffix(fold, e) })
}
