package slots

import (
	"slices"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Family holds what the capabilities of one domain share: parameters with the same name take the
// same values.
type Family struct {
	tools *Tools
	of    []*contracts.Capability
	once  sync.Once
	// values are example values by parameter name, aliases their other names, labels the words
	// before values by pattern.
	values  map[string][]string
	aliases map[string]map[string]any
	labels  map[string][]label
}

// label is a word right before a value in an example: "booking" in "the booking B-7".
type label struct {
	token tokenize.Token
	of    *contracts.Capability
}

// NewFamily returns a family. It reads the manifests lazily.
func NewFamily(tools *Tools, of []*contracts.Capability) *Family {
	return &Family{tools: tools, of: of}
}

// form returns the pattern of a parameter, or "" if the pattern accepts any word.
func (p *param) form() string {
	if p.pattern == nil || p.acceptsWords {
		return ""
	}
	return p.pattern.String()
}

// sharesValues reports whether a parameter may take values from other capabilities.
func (p *param) sharesValues() bool { return p.kind == "string" && len(p.enum) == 0 && !p.temporal() }

// isGenericName reports whether a parameter is just "name", which is not specific enough to share
// values.
func (p *param) isGenericName() bool { return slices.Equal(p.words, []string{"name"}) }

func (f *Family) gather() {
	f.values, f.aliases, f.labels = map[string][]string{}, map[string]map[string]any{}, map[string][]label{}
	for _, c := range f.of {
		s := &Set{tools: f.tools}
		s.compileParams(c)
		for _, p := range s.params {
			if !p.sharesValues() {
				continue
			}
			values := slices.Concat(FlattenLists(c.Metadata.ParameterSpecs[p.single].Examples), FlattenLists(c.Metadata.ParameterSpecs[p.list].Examples))
			for _, v := range values {
				if word, ok := v.(string); ok && !slices.Contains(f.values[p.name()], word) {
					f.values[p.name()] = append(f.values[p.name()], word)
				}
			}
			f.alias(p.name(), c.Metadata.ParameterSpecs[p.single].Aliases, c.Metadata.ParameterSpecs[p.list].Aliases)
			if form := p.form(); form != "" {
				f.labels[form] = append(f.labels[form], labelsOf(c, values)...)
			}
		}
	}
}

// alias records aliases of a parameter; the first definition wins.
func (f *Family) alias(name string, of ...map[string]any) {
	if f.aliases[name] == nil {
		f.aliases[name] = map[string]any{}
	}
	for _, aliases := range of {
		for spoken, v := range aliases {
			if _, has := f.aliases[name][spoken]; !has {
				f.aliases[name][spoken] = v
			}
		}
	}
}

// labelsOf returns the words right before a value in the examples, except at the start of a
// sentence.
func labelsOf(c *contracts.Capability, values []any) []label {
	if c.Metadata.IntentHints == nil {
		return nil
	}
	var out []label
	for _, example := range c.Metadata.IntentHints.Examples {
		tokens := tokenize.Tokens(example)
		for _, v := range values {
			word, _ := v.(string)
			words := tokenize.Phrase(word)
			for i := 2; i+len(words) <= len(tokens) && len(words) > 0; i++ {
				said := slices.EqualFunc(tokens[i:i+len(words)], words, func(t tokenize.Token, w string) bool { return t.Fold == w })
				if t := tokens[i-1]; said && !t.Break && !tokens[i].Break && !t.Named() && !t.Has(lexicon.Function) && !t.Has(lexicon.Filler) {
					out = append(out, label{t, c})
				}
			}
		}
	}
	return out
}

// fitsAny reports whether a value is a string that the schema of a parameter allows.
func (p *param) fitsAny(v any) bool {
	word, ok := v.(string)
	return ok && p.fits(word)
}

// learn adds the values of the other capabilities of the family to a set.
func (f *Family) learn(s *Set, c *contracts.Capability) {
	if f == nil {
		return
	}
	f.once.Do(f.gather)
	for _, p := range s.params {
		if !p.sharesValues() {
			continue
		}
		if !p.resolver && !p.isGenericName() {
			for _, v := range f.values[p.name()] {
				s.addPhrase(v, p, v, kindExample, 0.88)
			}
			for _, spoken := range sortedKeys(f.aliases[p.name()]) {
				if v := f.aliases[p.name()][spoken]; p.fitsAny(v) {
					s.addPhrase(spoken, p, v, kindAlias, 0.93)
				}
			}
		}
		for _, l := range f.labels[p.form()] {
			if l.of != c && s.tools.Lexicon.Kin(l.token.Fold) == 0 {
				s.known.Add(l.token)
			}
		}
	}
}
