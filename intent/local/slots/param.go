package slots

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// role is the end of a period that a date is.
type role uint8

const (
	roleNone role = iota
	roleStart
	roleEnd
)

// param is a value that can be read from text. If a decomposition rule couples a list parameter
// with a single-value parameter, one param stands for both.
type param struct {
	// single and list are the parameter names; one may be empty.
	single, list string
	leaf         string // last segment of the name, for fields of objects
	kind         string // type of one value
	format       string
	layout       string // layout of a date; empty means year-month-day
	pattern      *regexp.Regexp
	acceptsWords bool // the pattern accepts ordinary words or numbers
	enum         []any
	labels       []string // labels of the enum values, or nil
	low, high    *float64
	lowOpen      bool
	highOpen     bool
	minLen       int
	maxLen       int
	maxItems     int
	hasDefault   bool
	share        bool   // an example lies between 0 and 1
	required     bool   // required, directly or as one of several alternatives
	resolver     bool   // a search step resolves the text to the value
	subject      bool   // it identifies the person whom a call is about
	naming       bool   // its example values are capitalised names
	clock        string // layout of a time of day, by its pattern or description

	words        []string // stems of the name
	contentWords []string // those without words for a role or an end
	names        []ParameterName
	desc         map[string]bool
	own          map[string]bool // words that only this description has
	says         SwitchWords     // for a boolean: the words of its description
	headNoun     string          // for a boolean: the last noun of its name
	lackingNouns []string        // nouns behind "without" in the examples
	sense        Sense
	unit         string
	units        int // number of units of time in the description
	// measure is the unit that the name ends in, as in "height_cm".
	measure string
	// metric is the unit of length, mass, volume or power in the name or the description.
	metric string
	// size is the dimension of the unit or of the name: length, mass, …
	size string
	// saysYear reports whether the description of an integer calls it a year.
	saysYear bool
	role     role
	side     direction // end of a range, by its name
	end      direction // end of a change, if another parameter is the other end

	listed       []string // values listed in the description
	written      ValueStyle
	shapes       Shapes
	examples     int            // number of example values
	identifiers  int            // number of those that are identifiers
	leftContext  map[string]int // words before and after values in the examples
	rightContext map[string]int
}

// name returns the name to use in a question.
func (p *param) name() string { return cmp.Or(p.single, p.list) }

// wrapped wraps a single value in a list if the parameter takes only lists.
func (p *param) wrapped(v any) any {
	if p.single == "" {
		return []any{v}
	}
	return v
}

// free reports whether a parameter is a string without enum and format.
func (p *param) free() bool {
	return p.kind == "string" && len(p.enum) == 0 && p.format == ""
}

func (p *param) numeric() bool { return p.kind == "integer" || p.kind == "number" }

func (p *param) temporal() bool {
	return p.kind == "string" && (p.format == "date" || p.format == "date-time")
}

// sibling reports whether the names of two parameters differ only by a number or by words such as
// "start" and "end".
func (p *param) sibling(q *param) bool {
	return p.sense&(SenseSource|SenseTarget) != 0 && q.sense&(SenseSource|SenseTarget) != 0 || slices.Equal(p.contentWords, q.contentWords)
}

// named reports whether the param has one of the names; no names means all.
func (p *param) named(only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(name string) bool {
		return name == p.name() || name == p.list || within(p.name(), name)
	})
}

// compileParams compiles the parameters of a capability.
func (s *Set) compileParams(c *contracts.Capability) {
	root := contracts.ViewSchema(c.Schema)
	s.view, s.required = root, RequirementsOf(root)
	rules := map[string]contracts.ArrayRule{}
	if c.Metadata.Decomposition != nil {
		for _, r := range c.Metadata.Decomposition.ArrayParams {
			rules[r.ParamName] = r
		}
	}
	for _, pr := range fieldsOf(root) {
		if c.Metadata.ParameterSpecs[pr.name].Verbatim {
			s.verbatim = pr.name
			continue
		}
		s.addParam(c, pr, rules)
	}
	for _, p := range s.params {
		top := contracts.FieldPath(p.single)[0]
		p.required = s.required.Mentions(top) || s.required.Mentions(p.list)
		p.resolver = resolves(c, p)
		p.naming = p.resolver || p.free() && p.pattern == nil && p.examples > 1 && p.written.Proper > 0 && p.written.Plain == 0 && !p.speaks(s.tools.cues)
		p.clock = cmp.Or(p.clock, p.clockLayout())
		p.names = append(spoken(p.single, false), spoken(p.list, true)...)
		if p.leaf != p.single && p.single != "" {
			p.names = append(p.names, spoken(p.leaf, false)...)
		}
		p.sense = s.tools.cues.SenseOf(p.words)
		p.compileRangeEnd(s.tools.cues)
		if len(p.words) > 0 {
			p.measure = s.tools.Scanner.Measure(p.words[len(p.words)-1])
			p.metric = cmp.Or(values.UnitOf(map[string]bool{p.measure: true, p.words[len(p.words)-1]: true, "per": slices.Contains(p.words, "per")}), p.metric)
		}
		p.size = cmp.Or(values.DimensionOf(p.metric), values.DimensionNamed(p.words))
	}
	linkCounterparts(s.params)
	s.ownWords(tokenize.Stems(c.Description))
	s.findInforming(c.Name)
}

// ownWords sets the words of each description that no other parameter and no text about the
// capability has.
func (s *Set) ownWords(about []string) {
	count := map[string]int{}
	for _, p := range s.params {
		for w := range p.desc {
			count[w]++
		}
	}
	for _, p := range s.params {
		p.own = map[string]bool{}
		for w := range p.desc {
			p.own[w] = count[w] == 1 && !slices.Contains(about, w) && len(w) > 2
		}
		if slices.Contains(about, p.headNoun) {
			p.headNoun = ""
		}
		maps.DeleteFunc(p.says, func(w string, _ bool) bool { return !p.own[w] || slices.Contains(p.words, w) })
	}
}

func spoken(name string, list bool) []ParameterName {
	words := tokenize.Phrase(tokenize.SplitName(name))
	if len(words) == 0 {
		return nil
	}
	return []ParameterName{{Words: words, Joined: strings.Join(words, ""), List: list}}
}

func (s *Set) addParam(c *contracts.Capability, pr input, rules map[string]contracts.ArrayRule) {
	value, p := pr.view, &param{single: pr.name, leaf: pr.leaf(), kind: pr.view.Type, desc: map[string]bool{}, leftContext: map[string]int{}, rightContext: map[string]int{}}
	specName := pr.name
	if value.Type == "array" {
		p.single, p.list = "", pr.name
		if value = value.Items; value == nil {
			value = &contracts.SchemaView{Type: "string"}
		}
		if pr.view.MaxItems != nil {
			p.maxItems = *pr.view.MaxItems
		}
		if rule, ok := rules[pr.name]; ok {
			specName = rule.SingleParamName
			if other := s.byName(rule.SingleParamName); other != nil {
				other.list, other.maxItems = pr.name, p.maxItems
				other.specify(c.Metadata.ParameterSpecs[pr.name])
				return
			}
		}
	} else if list := listFor(rules, pr.name); list != "" {
		if other := s.byName(list); other != nil {
			p.list, p.maxItems = other.list, other.maxItems
			p.specify(c.Metadata.ParameterSpecs[other.list])
			s.params = slices.DeleteFunc(s.params, func(q *param) bool { return q == other })
		}
	}
	p.describe(p.leaf, value, pr.view.Description)
	p.hasDefault = pr.view.Default != nil
	p.specify(c.Metadata.ParameterSpecs[specName])
	if specName != pr.name {
		p.specify(c.Metadata.ParameterSpecs[pr.name])
	}
	s.params = append(s.params, p)
}

func listFor(rules map[string]contracts.ArrayRule, single string) string {
	for _, list := range sortedKeys(rules) {
		if rules[list].SingleParamName == single {
			return list
		}
	}
	return ""
}

func (s *Set) byName(name string) *param {
	for _, p := range s.params {
		if p.single == name || p.list == name {
			return p
		}
	}
	return nil
}

func resolves(c *contracts.Capability, p *param) bool {
	if c.Metadata.Flow == nil {
		return false
	}
	return slices.ContainsFunc(c.Metadata.Flow.Pre, func(step contracts.PreStep) bool {
		// A lookup by other parameters is no search by text.
		return !step.IsLookup() && (step.Param == p.single || step.Param == p.list)
	})
}

// describe takes the constraints from the schema.
func (p *param) describe(name string, of *contracts.SchemaView, outer string) {
	p.kind = of.Type
	p.enum, p.labels = of.Enum, of.Labels
	if p.kind == "" {
		p.kind = EnumKind(p.enum)
	}
	p.format, p.low, p.high, p.lowOpen, p.highOpen = of.Format, of.Minimum, of.Maximum, of.MinOpen, of.MaxOpen
	if of.MinLength != nil {
		p.minLen = *of.MinLength
	}
	if of.MaxLength != nil {
		p.maxLen = *of.MaxLength
	}
	if re, err := regexp.Compile(of.Pattern); of.Pattern != "" && err == nil {
		p.pattern = re
		p.acceptsWords = re.MatchString("1") || re.MatchString("word")
	}
	p.words = tokenize.Stems(tokenize.SplitName(name))
	description := outer + " " + of.Description + " " + of.Title
	for _, stem := range tokenize.Stems(description) {
		p.desc[stem] = true
	}
	if p.kind == "boolean" {
		p.says, p.headNoun = DescribedSwitch(description), HeadNoun(tokenize.SplitName(name))
	}
	p.listed = ListedValues(description)
	for _, v := range p.listed {
		p.written.See(v)
	}
	if p.kind == "string" && p.format == "" {
		p.format, p.layout = DateFormatOf(description), DateLayoutOf(description)
		if p.format == "" && p.pattern == nil && (p.layout != "" || p.saysDate()) {
			p.format = "date"
		}
	}
	if p.kind == "string" && p.format == "" && p.pattern == nil && len(p.enum) == 0 {
		p.clock = ClockOf(description)
	}
	p.unit, p.units = values.TimeUnitOf(p.words, p.desc)
	p.role = periodRole(p.words)
	p.saysYear = p.kind == "integer" && DescribesYear(description, isYearWord)
	p.metric = values.UnitOf(p.desc)
}

// specify takes the constraints from the parameter spec.
func (p *param) specify(spec contracts.ParameterSpec) {
	if p.pattern == nil && spec.Pattern != "" {
		if re, err := regexp.Compile(spec.Pattern); err == nil {
			p.pattern = re
			p.acceptsWords = re.MatchString("1") || re.MatchString("word")
		}
	}
	if len(p.enum) == 0 {
		p.enum = spec.Enum
	}
	p.hasDefault = p.hasDefault || spec.Default != nil
	p.subject = p.subject || spec.Subject != nil
	for _, v := range FlattenLists(spec.Examples) {
		p.learnShape(v)
	}
}

// learnShape records the form of an example value.
func (p *param) learnShape(v any) {
	if n, ok := v.(float64); ok && p.kind == "number" && n > 0 && n < 1 {
		p.share = true
	}
	s, ok := v.(string)
	if !ok {
		return
	}
	p.examples++
	p.written.See(s)
	if p.format == "" && p.kind == "string" && len(p.enum) == 0 {
		if _, err := time.Parse(time.DateOnly, s); err == nil {
			p.format = "date"
			return
		}
		if _, err := time.Parse(time.RFC3339, s); err == nil {
			p.format = "date-time"
			return
		}
	}
	sh, ok := ShapeOf(s)
	if !ok {
		return
	}
	p.identifiers++
	if !slices.Contains(p.shapes, sh) {
		p.shapes = append(p.shapes, sh)
	}
}

// coded reports whether all examples of a parameter are identifiers with digits, so that words are
// no values.
func (p *param) coded() bool { return len(p.shapes) > 0 && p.identifiers == p.examples }

func periodRole(words []string) role {
	for _, w := range words {
		switch w {
		case "start", "from", "begin", "sinc", "since", "first", "after":
			return roleStart
		case "end", "to", "until", "till", "through", "last", "before":
			return roleEnd
		}
	}
	if len(words) > 1 && words[len(words)-1] == "by" || slices.Contains(words, "due") || slices.Contains(words, "deadlin") {
		return roleEnd
	}
	return roleNone
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
