package slot

import (
	"slices"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Family is what the capabilities of one domain have in common: a parameter that has the
// name or the pattern of another one's takes the same things, and they are called the
// same.
type Family struct {
	tools *Tools
	of    []*contracts.Capability
	once  sync.Once
	kin   map[string]*kin
}

// kin is what parameters of one name or pattern have between them.
type kin struct {
	values []string
	labels []label
}

// label is a word that stands right before a value in an example: "the booking B-7".
type label struct {
	token text.Token
	of    *contracts.Capability
}

// NewFamily puts capabilities together. Nothing is read before it is needed.
func NewFamily(tools *Tools, of []*contracts.Capability) *Family {
	return &Family{tools: tools, of: of}
}

// keys are those by which a parameter has kin.
func (p *param) keys() []string {
	out := []string{"name " + p.name()}
	if p.pattern != nil && !p.loose {
		out = append(out, "pattern "+p.pattern.String())
	}
	return out
}

// shared tells a parameter whose values are words of its own.
func (p *param) shared() bool { return p.kind == "string" && len(p.enum) == 0 && !p.temporal() }

func (f *Family) gather() {
	f.kin = map[string]*kin{}
	for _, c := range f.of {
		s := &Set{tools: f.tools}
		s.compileParams(c)
		for _, p := range s.params {
			if !p.shared() {
				continue
			}
			values := slices.Concat(flatten(c.Metadata.ParameterSpecs[p.single].Examples), flatten(c.Metadata.ParameterSpecs[p.list].Examples))
			labels := labelsOf(c, values)
			for _, key := range p.keys() {
				k := f.kin[key]
				if k == nil {
					k = &kin{}
					f.kin[key] = k
				}
				for _, v := range values {
					if word, ok := v.(string); ok && !slices.Contains(k.values, word) {
						k.values = append(k.values, word)
					}
				}
				k.labels = append(k.labels, labels...)
			}
		}
	}
}

// labelsOf gives the words of the examples that stand right before a value, but for
// those that a sentence begins with.
func labelsOf(c *contracts.Capability, values []any) []label {
	if c.Metadata.IntentHints == nil {
		return nil
	}
	var out []label
	for _, example := range c.Metadata.IntentHints.Examples {
		tokens := text.Tokens(example)
		for _, v := range values {
			word, _ := v.(string)
			words := text.Phrase(word)
			for i := 2; i+len(words) <= len(tokens) && len(words) > 0; i++ {
				if t := tokens[i-1]; !t.Break && !tokens[i].Break && !t.Named() && !t.Has(lang.Function) && !t.Has(lang.Filler) && begins(tokens[i:], words) {
					out = append(out, label{t, c})
				}
			}
		}
	}
	return out
}

// begins tells whether tokens begin with folded words.
func begins(tokens []text.Token, words []string) bool {
	for k, w := range words {
		if tokens[k].Fold != w {
			return false
		}
	}
	return true
}

// learn gives a capability what its kin know.
func (f *Family) learn(s *Set, c *contracts.Capability) {
	if f == nil {
		return
	}
	f.once.Do(f.gather)
	for _, p := range s.params {
		if !p.shared() {
			continue
		}
		for n, key := range p.keys() {
			k := f.kin[key]
			if k == nil {
				continue
			}
			for _, v := range k.values {
				if n == 0 {
					s.addPhrase(v, p, v, kindExample, 0.88)
				}
			}
			for _, l := range k.labels {
				if l.of != c && s.tools.Lexicon.Kin(l.token.Fold) == 0 {
					s.known.add(l.token)
				}
			}
		}
	}
}
