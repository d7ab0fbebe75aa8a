package slots

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// VerbatimParameter returns the parameter that takes the request verbatim, or "".
func VerbatimParameter(s *Set) string { return s.verbatim }

// fillVerbatim sets the parameter that takes the request verbatim. Its evidence covers only the
// words behind the verb, so that a negation before the verb is not part of the value.
func fillVerbatim(r *scope, f *Filled) {
	name := r.set.verbatim
	if name == "" || r.learning || r.from >= r.to || len(r.only) > 0 && !slices.Contains(r.only, name) {
		return
	}
	f.Values[name], f.Evidence[name] = VerbatimText(r.set, r.doc.Src, r.doc.Tokens, Range{r.from, r.to})
}

// VerbatimText returns the verbatim text of a run of tokens, and its evidence.
func VerbatimText(s *Set, src string, tokens []tokenize.Token, run Range) (string, contracts.Evidence) {
	end := tokens[run.To-1].End
	for _, r := range src[end:] { // include a closing quotation mark
		if !strings.ContainsRune("\"'”’»“", r) {
			break
		}
		end += utf8.RuneLen(r)
	}
	behind := run.From
	for i := run.From; i < run.To; i++ {
		if t := tokens[i]; len(t.Fold) > 2 && (s.Knows(t) || s.tools.Lexicon.Kin(t.Fold) != 0) {
			behind = min(i+1, run.To-1)
			break
		}
	}
	return tokenize.Clean(src[tokens[run.From].Start:end]), contracts.Evidence{Kind: kindPhrase, Span: [2]int{tokens[behind].Start, end}, P: 0.9}
}
