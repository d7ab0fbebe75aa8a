package slots

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// VerbatimParameter gives the parameter that takes the request verbatim, "" for none.
func VerbatimParameter(s *Set) string { return s.verbatim }

// wholly gives a parameter that takes the request itself all of it. Only what
// stands behind the verb is borne out by it: a word that forbids, before the verb,
// is none of its words.
func wholly(r *scope, f *Filled) {
	name := r.set.verbatim
	if name == "" || r.learning || r.from >= r.to || len(r.only) > 0 && !slices.Contains(r.only, name) {
		return
	}
	f.Values[name], f.Evidence[name] = VerbatimText(r.set, r.doc.Src, r.doc.Tokens, Range{r.from, r.to})
}

// VerbatimText gives the verbatim text of a run of tokens, and its evidence.
func VerbatimText(s *Set, src string, tokens []tokenize.Token, run Range) (string, contracts.Evidence) {
	end := tokens[run.To-1].End
	for _, r := range src[end:] { // a quotation ends with its mark
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
