package conversations

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/internal/model/scripted"
)

// byScript is a model that answers by the scripts of the items: calls, drafts, replanning and worded
// answers. It declines what no rule matches, so that the local reader handles it.
type byScript struct {
	*script

	rules *scripted.Script
}

func newScripted(s *script) (*byScript, error) {
	b := &byScript{s, &scripted.Script{Else: answers(declined)}}
	for _, i := range s.items {
		if len(i.Script) == 0 {
			continue
		}
		own, err := scripted.ParseScript(slices.Concat([]byte(`{"rules":`), i.Script, []byte(`}`)))
		if err != nil {
			return nil, fmt.Errorf("script of %s: %w", i.ID, err)
		}
		b.rules.Rules = append(b.rules.Rules, own.Rules...)
	}
	return b, nil
}

type answers func() scripted.Answer

func (a answers) Answer(scripted.Asked) scripted.Answer { return a() }

// Answer returns the answer of the first matching rule.
func (b *byScript) Answer(asked scripted.Asked) scripted.Answer {
	return b.counted(b.rules.Answer(asked))
}
