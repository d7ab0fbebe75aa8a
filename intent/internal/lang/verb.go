package lang

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
		"approve", "reject", "copy", "move", "compare", "compute", "fetch", "buy",
	}
}

// longestForm is how many letters an ending of a verb has at most.
const longestForm = 4

// Kin gives the kinds that a word belongs to. Most words belong to none.
func (l *Lexica) Kin(fold string) (out Kinds) {
	for n := len(fold); n >= 2 && len(fold)-n <= longestForm; n-- {
		for _, v := range l.verbs[fold[:n]] {
			if l.forms[v.language][fold[n:]] {
				out |= v.kinds
			}
		}
		if out != 0 {
			return out
		}
	}
	return 0
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
	forms := map[string]bool{"": true}
	c.lexica.forms = append(c.lexica.forms, forms)
	for form := range strings.FieldsSeq(f.Forms) {
		if len(form) > longestForm {
			c.fail(f, "forms: %q is longer than %d", form, longestForm)
		}
		forms[Fold(form)] = true
	}
}
