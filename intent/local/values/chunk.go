package values

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Chunk is a run of text between spaces, brackets and quotes, without surrounding punctuation:
// "al-17", "40.50", "2026-12-07".
type Chunk struct {
	Span tokenize.Span
	Text string
	// First and Last are the tokens that it covers.
	First, Last int
}

func chunks(src string, tokens []tokenize.Token) []Chunk {
	var out []Chunk
	for i := 0; i < len(tokens); {
		if tokens[i].Is(tokenize.FormSign) {
			i++
			continue
		}
		span := trim(src, tokenize.Span{Start: chunkStart(src, tokens, i), End: chunkEnd(src, tokens[i].Start)})
		last := i
		for last+1 < len(tokens) && tokens[last+1].End <= span.End {
			last++
		}
		if span.End >= tokens[i].End {
			out = append(out, Chunk{Span: span, Text: src[span.Start:span.End], First: i, Last: last})
		}
		i = last + 1
	}
	return out
}

// chunkStart returns the start of a chunk, including a sign or a currency symbol before its first
// token.
func chunkStart(src string, tokens []tokenize.Token, i int) int {
	start, floor := tokens[i].Start, 0
	if i > 0 {
		floor = tokens[i-1].End
	}
	if opening := openingOf(src[floor:start]); opening > 0 {
		return start - opening
	}
	for start > floor {
		r, size := utf8.DecodeLastRuneInString(src[floor:start])
		if r != '-' && r != '+' && r != '#' && r != '@' && !unicode.Is(unicode.Sc, r) {
			break
		}
		start -= size
	}
	return start
}

// openingOf returns the length of the prefix of a path or a dot file at the end of a gap: "/",
// "./", "../", "~/", ".".
func openingOf(gap string) int {
	for _, sign := range []string{"../", "./", "~/", "/", "\\\\", "."} {
		if before, ok := strings.CutSuffix(gap, sign); ok && (before == "" || strings.ContainsAny(before[len(before)-1:], " \t\n([{\"'`=")) {
			return len(sign)
		}
	}
	return 0
}

func chunkEnd(src string, start int) int {
	prev := rune(0)
	for i := start; i < len(src); {
		r, size := utf8.DecodeRuneInString(src[i:])
		next, _ := utf8.DecodeRuneInString(src[i+size:])
		inLink := (r == '=' || r == ':') && (strings.Contains(src[start:i], "://") || strings.HasPrefix(src[start:i], "www."))
		if separates(r, prev, next) && !inLink {
			return i
		}
		prev = r
		i += size
	}
	return len(src)
}

func separates(r, prev, next rune) bool {
	switch {
	case unicode.IsSpace(r), unicode.IsControl(r), r == utf8.RuneError:
		return true
	case r == '–' || r == '—', lexicon.Apostrophe(r) && unicode.IsDigit(next) && unicode.IsLetter(prev):
		return true
	case strings.ContainsRune(";=()[]{}<>\"“”„«»`|", r):
		return true
	case r == ',', r == '،', r == '、', r == '，':
		return !unicode.IsDigit(prev) || !unicode.IsDigit(next)
	case r == ':':
		return next != '/' && next != '\\' && (!unicode.IsDigit(prev) || !unicode.IsDigit(next))
	}
	return false
}

// trim removes trailing punctuation and a possessive ending.
func trim(src string, s tokenize.Span) tokenize.Span {
	raw := src[s.Start:s.End]
	trimmed := strings.TrimRight(raw, ".,:!?'’/-&…")
	for _, ending := range []string{"'s", "’s", "'S", "’S"} {
		trimmed = strings.TrimSuffix(trimmed, ending)
	}
	return tokenize.Span{Start: s.Start, End: s.Start + len(trimmed)}
}

func isEmail(s string) bool {
	local, host, ok := strings.Cut(s, "@")
	if !ok || local == "" || strings.ContainsRune(host, '@') || !strings.Contains(host, ".") {
		return false
	}
	bad := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_+%", r)
	}
	return !strings.ContainsFunc(s[:len(local)], bad) && !strings.ContainsFunc(host, bad) &&
		!strings.HasPrefix(host, ".") && !strings.HasSuffix(host, ".") && !strings.Contains(host, "..")
}

func isURL(s string) bool {
	lower := strings.ToLower(s)
	if rest, ok := strings.CutPrefix(lower, "www."); ok {
		return strings.Contains(rest, ".")
	}
	scheme, rest, ok := strings.Cut(lower, "://")
	return ok && (scheme == "http" || scheme == "https" || scheme == "ftp" || scheme == "s3") && rest != ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}
