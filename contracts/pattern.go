package contracts

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// rules are the RE2 patterns for an ECMA-262 pattern of a JSON Schema: a text must match all of
// must and none of never. unchecked is the reason if RE2 cannot express the pattern; then there
// are no rules.
type rules struct {
	must, never []string
	unchecked   string
}

// main returns the pattern that describes the whole value, or "" if there is none.
func (r rules) main() string {
	if len(r.must) == 0 {
		return ""
	}
	return r.must[len(r.must)-1]
}

// readPattern translates an ECMA-262 pattern to RE2. RE2 has no look-around, which is translated
// if it is at the beginning, no back-references and no large repeat counts. It returns an error
// if the pattern is invalid in both dialects.
func readPattern(pattern string) (rules, error) {
	if _, err := regexp.Compile(pattern); err == nil {
		return rules{must: []string{pattern}}, nil
	}
	out, rest, anchored := rules{}, ecmaToRE2(pattern), ""
	if after, ok := strings.CutPrefix(rest, "^"); ok {
		anchored, rest = "^", after
	}
	for anchored != "" && (strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!")) {
		end := groupEnd(rest)
		if end < 0 {
			break
		}
		ahead := "^(?:" + rest[3:end] + ")"
		if rest[2] == '=' {
			out.must = append(out.must, ahead)
		} else {
			out.never = append(out.never, ahead)
		}
		rest = rest[end+1:]
	}
	if len(out.must)+len(out.never) > 0 && alternates(rest) {
		return rules{unchecked: "it looks ahead in one of several alternatives"}, nil
	}
	out.must = append(out.must, anchored+rest)
	for _, p := range slices.Concat(out.must, out.never) {
		if _, err := regexp.Compile(p); err != nil {
			return unreadable(err)
		}
	}
	return out, nil
}

// unreadable distinguishes patterns that RE2 does not support from invalid ones.
func unreadable(err error) (rules, error) {
	why, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return rules{}, err
	}
	switch why.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidRepeatSize, syntax.ErrInvalidCharRange, syntax.ErrInvalidNamedCapture, syntax.ErrLarge, syntax.ErrNestingDepth:
		return rules{unchecked: strings.TrimPrefix(err.Error(), "error parsing regexp: ")}, nil
	default:
		return rules{}, err
	}
}

// ecmaToRE2 rewrites syntax with a different spelling in RE2: \uXXXX, \u{X}, \cX, [^] and
// Python's \Z.
func ecmaToRE2(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch {
		case strings.HasPrefix(rest, `\u{`):
			b.WriteString(`\x{`)
			i += 2
		case strings.HasPrefix(rest, `\u`) && len(rest) >= 6 && hexadecimal(rest[2:6]):
			b.WriteString(`\x{` + rest[2:6] + `}`)
			i += 5
		case strings.HasPrefix(rest, `\c`) && len(rest) >= 3:
			b.WriteString(`\x{` + string("0123456789ABCDEF"[rest[2]>>4&1]) + string("0123456789ABCDEF"[rest[2]&15]) + `}`)
			i += 2
		case strings.HasPrefix(rest, `\Z`):
			b.WriteString(`\z`)
			i++
		case strings.HasPrefix(rest, `[^]`):
			b.WriteString(`[\s\S]`)
			i += 2
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

func hexadecimal(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
}

// groupEnd returns the index of the parenthesis that closes the group at the beginning, or -1 if
// there is none.
func groupEnd(pattern string) int {
	depth := 0
	end := -1
	outside(pattern, func(i int, c byte) bool {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				end = i
				return false
			}
		}
		return true
	})
	return end
}

// alternates reports whether a pattern has an alternation at its top level.
func alternates(pattern string) bool {
	depth, found := 0, false
	outside(pattern, func(_ int, c byte) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			found = found || depth == 0
		}
		return !found
	})
	return found
}

// outside calls do for each character that is neither escaped nor in a character class, until do
// returns false.
func outside(pattern string, do func(i int, c byte) bool) {
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case !do(i, c):
			return
		}
	}
}
