package contracts

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// rules are what a pattern of a JSON Schema, which is one of ECMA-262, asks for in RE2:
// a text must match each of must and none of never. Unchecked says what RE2 cannot
// express; then there are no rules.
type rules struct {
	must, never []string
	unchecked   string
}

// main is the pattern that a value has the form of, "" for none.
func (r rules) main() string {
	if len(r.must) == 0 {
		return ""
	}
	return r.must[len(r.must)-1]
}

// readPattern translates a pattern. What RE2 lacks is look-around, which at the
// begin of a pattern is a pattern of its own, references back, and large counts. The
// error tells what is a pattern in no dialect.
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

// unreadable reports what RE2 has no words for from what is no pattern at all.
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

// ecmaToRE2 writes what the two dialects only spell differently: \uXXXX, \u{X}, \cX,
// [^] and Python's \Z.
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

// groupEnd returns the place of the bracket that closes the group at the begin, -1 if
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

// alternates tells a pattern that is one of several at its top.
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

// outside goes through the characters that are neither escaped nor in a class, until
// do says that it is enough.
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
