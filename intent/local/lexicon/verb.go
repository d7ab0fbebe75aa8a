package lexicon

import (
	"maps"
	"slices"
	"strings"
)

// Kinds is a set of kinds of everyday verbs, one bit each.
type Kinds uint32

// kinds are the kinds of verbs that a file may have. Verbs of one kind ask for the
// same thing, whatever it is done to.
func kinds() []string {
	return []string{
		"delete", "cancel", "create", "change", "send", "notify", "request", "reserve", "show", "find", "start", "stop",
		"approve", "reject", "copy", "move", "compare", "compute", "fetch", "buy", "close", "assign", "extend", "record", "raise", "lower", "sell",
	}
}

// longestForm is how many letters an ending of a verb has at most.
const longestForm = 4

// Kin gives the kinds that a word belongs to. Most words belong to none.
func (l *Lexica) Kin(fold string) Kinds {
	kinds, _ := l.verb(fold)
	return kinds
}

// Root gives the stem that all forms of an everyday verb have, with their pronouns:
// "cambi" of "cámbiale"; "" of other words.
func (l *Lexica) Root(fold string) string {
	_, n := l.verb(fold)
	return fold[:n]
}

// verb gives the kinds of a verb and how long its stem is.
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

// Acts tells a form of an everyday verb of one language.
func (l *Lexica) Acts(language int, fold string) bool {
	for n := len(fold); n >= 2 && len(fold)-n <= longestForm; n-- {
		if l.forms[language][fold[n:]] && slices.ContainsFunc(l.verbs[fold[:n]], func(v verbStem) bool { return v.language == language }) {
			return true
		}
	}
	return false
}

// Bends tells words that end as forms of verbs do in a language.
func (l *Lexica) Bends(language int, fold string) bool {
	for n := max(1, len(fold)-longestForm); n < len(fold); n++ {
		if l.forms[language][fold[n:]] {
			return true
		}
	}
	return false
}

// KindOf gives a kind of verbs by its name, 0 if there is none.
func KindOf(name string) Kinds {
	for i, k := range kinds() {
		if k == name {
			return 1 << i
		}
	}
	return 0
}

// Asked are the kinds that a capability is asked for with, of those of a verb of its own:
// what is raised may be asked for as a change, but what raises is not asked to lower.
func (k Kinds) Asked() Kinds {
	if k&(KindOf("raise")|KindOf("lower")) != 0 {
		return k &^ KindOf("change")
	}
	return k
}

// ActionKinds are the kinds of verbs that change something; others show, find or compute,
// or are said of anything ("start", "send me the list").
func ActionKinds() (out Kinds) {
	for _, name := range []string{"delete", "cancel", "create", "change", "approve", "reject", "copy", "move", "buy", "reserve", "close", "assign", "extend", "record", "raise", "lower", "sell"} {
		out |= KindOf(name)
	}
	return out
}

// verbStem is a stem with the language of which the endings stand behind it.
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

// ToldOf tells an everyday verb of a language in a form of the past, by its accents:
// "canceló" is told, "cancelo" is not.
func (l *Lexica) ToldOf(language int, w Word) bool { return l.formed(language, w, l.pasts[language]) }

// TellsOf tells one in a form of the present that is said of others.
func (l *Lexica) TellsOf(language int, w Word) bool {
	return l.formed(language, w, l.presents[language])
}

// EndsInPast tells a word that ends as verbs of the past do.
func (l *Lexica) EndsInPast(language int, w Word) bool {
	return ends(w.Lower, l.pasts[language], shortestStem)
}

func (l *Lexica) formed(language int, w Word, endings []string) bool {
	return slices.ContainsFunc(endings, func(e string) bool {
		stem := len(w.Fold) - len(Fold(e))
		return stem >= 2 && strings.HasSuffix(w.Lower, e) && slices.ContainsFunc(l.verbs[w.Fold[:stem]], func(v verbStem) bool { return v.language == language })
	})
}

// Hangs gives how long the small word is that hangs on an everyday verb and points at
// something: two bytes in "rinominalo", none in "Angelo".
func (l *Lexica) Hangs(w Word) int {
	for _, e := range l.Words(Hung) {
		if verb, ok := strings.CutSuffix(w.Lower, e); ok && l.isForm(Fold(verb)) {
			return len(e)
		}
	}
	return 0
}

// isForm tells a stem of an everyday verb with what may stand behind it.
func (l *Lexica) isForm(fold string) bool {
	for n := shortestStem; n <= len(fold); n++ {
		if slices.ContainsFunc(l.verbs[fold[:n]], func(v verbStem) bool { return l.forms[v.language][fold[n:]] }) {
			return true
		}
	}
	return false
}

// Rooted tells any form of an everyday verb of a language, with what stands before or in
// its stem in a participle ("gelöscht", "eingerichtet").
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

// Infinitive tells verbs such as "apagar", "borrarla" and "mettre".
func (l *Lexica) Infinitive(fold string) bool { return ends(fold, l.infinitives, shortestVerb) }

// Gerund tells forms such as "deleting".
func (l *Lexica) Gerund(fold string) bool { return ends(fold, l.gerunds, shortestStem) }

// Supposes tells forms such as "cancelaría".
func (l *Lexica) Supposes(fold string) bool { return ends(fold, l.suppositions, shortestStem+1) }

// shortestVerb is how many letters stand before the ending of an infinitive at
// least: "crear".
const shortestVerb = 2

func ends(fold string, endings []string, stem int) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return len(fold) >= len(e)+stem && strings.HasSuffix(fold, e) })
}
