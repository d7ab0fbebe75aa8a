package values

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// language is a language compiled for reading values.
type language struct {
	index  int
	data   *lexicon.Language
	num    *NumberWords
	months map[string]time.Month
	// days holds the names of weekdays, announced those that need a word before them.
	days, announced map[string]time.Weekday
	units, short    map[string]string
	working         map[string]string // modifiers of working days
	spans           map[string]Entity
	rules           []rule
	byWord          map[string][]int // rules by their first word
	bySlot          map[string][]int // rules by their first slot
	half, andHalf   []lexicon.Form
	percent         []lexicon.Form
	money           []coin
	year, at        []lexicon.Form
	none            []lexicon.Form
	morning, later  []lexicon.Form
}

// coin is a name of a currency; code is "" if the name is ambiguous.
type coin struct {
	form lexicon.Form
	code string
}

// slots returns the slots that forms may have.
func slots() []string {
	return []string{"n", "unit", "day", "nth", "month", "year", "weekday", "announced", "point", "period", "hour", "hour_h", "minute", "clock"}
}

func newLanguage(index int, x *lexicon.Lexica) (*language, error) {
	data := x.Languages[index]
	t := &language{
		index: index, data: data, months: map[string]time.Month{}, days: map[string]time.Weekday{}, announced: map[string]time.Weekday{},
		spans: map[string]Entity{}, byWord: map[string][]int{}, bySlot: map[string][]int{},
	}
	var err error
	if t.num, err = NewNumberWords(data); err != nil {
		return nil, fmt.Errorf("%s: %w", data.Code, err)
	}
	names(data, data.Dates.Months, func(i int, name string) { t.months[name] = time.Month(i + 1) })
	names(data, data.Dates.Weekdays, func(i int, name string) { t.days[name] = time.Weekday((i + 1) % 7); t.num.Pair(name) })
	names(data, data.Dates.Announced, func(i int, name string) { t.announced[name] = time.Weekday((i + 1) % 7) })
	t.units = lexicon.Named(data.Numbers.Units, lexicon.Fold)
	t.working = lexicon.Named(map[string]string{"day": data.Numbers.Working}, lexicon.Fold)
	t.short = lexicon.Named(data.Numbers.Short, strings.Clone)
	if err := t.forms(x); err != nil {
		return nil, fmt.Errorf("%s: %w", data.Code, err)
	}
	return t, nil
}

// names parses a list with alternatives: "january|jan february|feb".
func names(l *lexicon.Language, list string, yield func(i int, name string)) {
	for i, alternatives := range strings.Fields(list) {
		for name := range strings.SplitSeq(alternatives, "|") {
			for _, w := range NumberSpellings(l, name) {
				yield(i, w)
			}
		}
	}
}

// forms compiles the phrases.
func (t *language) forms(x *lexicon.Lexica) error {
	n, d, c := &t.data.Numbers, &t.data.Dates, &t.data.Times
	for _, list := range []struct {
		into *[]lexicon.Form
		say  []string
	}{
		{&t.half, n.Half}, {&t.andHalf, n.AndHalf}, {&t.percent, n.Percent}, {&t.year, d.Year}, {&t.none, d.None}, {&t.at, c.At}, {&t.morning, c.Morning}, {&t.later, c.Later},
	} {
		for _, say := range list.say {
			f, err := lexicon.NewForm(t.spelled(say), slots())
			if err != nil {
				return err
			}
			f.Seal(x)
			*list.into = append(*list.into, f)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(n.Money)) {
		for _, say := range n.Money[code] {
			f, err := lexicon.NewForm(say, nil)
			if err != nil {
				return err
			}
			f.Seal(x)
			t.money = append(t.money, coin{f, strings.TrimPrefix(code, "ANY")})
		}
	}
	if err := t.periods(n.Spans); err != nil {
		return err
	}
	for _, made := range t.ruleLists() {
		for _, say := range made.forms {
			if err := t.add(x, say, made.rule); err != nil {
				return err
			}
		}
	}
	return t.counted(x)
}

// periods parses "fortnight 2 week".
func (t *language) periods(list string) error {
	fields := strings.Fields(list)
	if len(fields)%3 != 0 {
		return fmt.Errorf("spans: %q are no triples", list)
	}
	for i := 0; i < len(fields); i += 3 {
		if err := NumberPairs(t.data, fields[i]+" "+fields[i+1], func(w string, v float64) {
			t.spans[w] = Entity{Kind: Number, Number: v, Unit: fields[i+2], Spelled: true, P: 0.85}
		}); err != nil {
			return err
		}
	}
	return nil
}

// counted compiles the phrases with a leading value: "1 tomorrow" and "12-25 christmas".
func (t *language) counted(x *lexicon.Lexica) error {
	for _, line := range t.data.Dates.Near {
		var days int
		count, say, _ := strings.Cut(line, " ")
		if _, err := fmt.Sscanf(count, "%d", &days); err != nil {
			return fmt.Errorf("near: %q does not begin with a number of days", line)
		}
		if err := t.add(x, say, rule{class: dayRule, make: near(days)}); err != nil {
			return err
		}
	}
	for _, line := range t.data.Dates.Fixed {
		var month, day int
		date, say, _ := strings.Cut(line, " ")
		if _, err := fmt.Sscanf(date, "%d-%d", &month, &day); err != nil {
			return fmt.Errorf("fixed: %q does not begin with a month and a day", line)
		}
		if err := t.add(x, say, rule{class: dayRule, make: fixed(time.Month(month), day)}); err != nil {
			return err
		}
	}
	return nil
}

// spelled adds the alternative spelling of each word to a form.
func (t *language) spelled(say string) string {
	places := strings.Fields(say)
	for i, p := range places {
		if other := t.data.Respelled.Replace(p); other != p {
			body, optional := strings.CutSuffix(p, "?")
			places[i] = body + "|" + strings.TrimSuffix(other, "?")
			if optional {
				places[i] += "?"
			}
		}
	}
	return strings.Join(places, " ")
}

func (t *language) add(x *lexicon.Lexica, say string, r rule) error {
	f, err := lexicon.NewForm(t.spelled(say), slots())
	if err != nil {
		return err
	}
	f.Seal(x)
	r.form = f
	k := len(t.rules)
	t.rules = append(t.rules, r)
	starts, at := f.Starts()
	for _, w := range starts {
		if !slices.Contains(t.byWord[w], k) {
			t.byWord[w] = append(t.byWord[w], k)
		}
	}
	for _, slot := range at {
		if !slices.Contains(t.bySlot[slot], k) {
			t.bySlot[slot] = append(t.bySlot[slot], k)
		}
	}
	return nil
}
