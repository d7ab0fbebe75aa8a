package tokenize

import "strings"

// Numbered returns the tokens that number the items of a list with at least two items: "1) open
// the gate 2) call Ana". Tokens inside of a typed value, such as "1. Mai", are excluded.
func Numbered(src string, tokens []Token, valued func(i int) bool) map[int]bool {
	out := map[int]bool{}
	want, sign := 1, ""
	for i := range tokens[:max(len(tokens)-1, 0)] {
		begins := i == 0 || want > 1 || strings.ContainsAny(src[tokens[i-1].End:tokens[i].Start], ":\n")
		behind := src[tokens[i].End:tokens[i+1].Start]
		if !begins || len(behind) < 2 || tokens[i].Fold != string(rune('0'+want)) || valued(i) || tokens[i].Glued {
			continue
		}
		if s := behind[:1]; (s == ")" || s == ".") && behind[1] == ' ' && (want == 1 || s == sign) {
			out[i], sign = true, s
			want++
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
