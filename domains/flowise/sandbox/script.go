package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// script runs the supported subset of JavaScript: one "return" of strings, numbers, template
// literals and $names, joined by "+". Anything else is an error that blames the sandbox, not the
// function.
type script struct {
	rest string
	vars func(name string) (string, bool)
}

// runScript returns a string or a float64.
func runScript(code string, vars func(string) (string, bool)) (any, error) {
	s := &script{rest: strings.TrimSpace(code), vars: vars}
	body, found := strings.CutPrefix(s.rest, "return")
	if !found || body == "" || isName(rune(body[0])) {
		return nil, s.unknown()
	}
	s.rest = body
	out, err := s.sum()
	if err != nil {
		return nil, err
	}
	if rest := strings.Trim(s.rest, "; \t\r\n"); rest != "" {
		return nil, s.unknown()
	}
	return out, nil
}

func (s *script) unknown() error {
	return said("Error: the sandbox cannot run JavaScript like %q; it knows return, texts, numbers, $names and +", s.rest)
}

func (s *script) sum() (any, error) {
	out, err := s.term()
	for err == nil {
		s.skip()
		if !strings.HasPrefix(s.rest, "+") {
			break
		}
		s.rest = s.rest[1:]
		var next any
		if next, err = s.term(); err == nil {
			out = plus(out, next)
		}
	}
	return out, err
}

func plus(a, b any) any {
	x, isX := a.(float64)
	y, isY := b.(float64)
	if isX && isY {
		return x + y
	}
	return show(a) + show(b)
}

func show(v any) string {
	if n, is := v.(float64); is {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func (s *script) skip() { s.rest = strings.TrimLeftFunc(s.rest, unicode.IsSpace) }

func isName(r rune) bool {
	return r == '$' || r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (s *script) term() (any, error) {
	s.skip()
	if s.rest == "" {
		return nil, s.unknown()
	}
	switch first := s.rest[0]; {
	case first == '(':
		s.rest = s.rest[1:]
		out, err := s.sum()
		if s.skip(); err != nil || !strings.HasPrefix(s.rest, ")") {
			return nil, s.unknown()
		}
		s.rest = s.rest[1:]
		return out, nil
	case first == '"' || first == '\'' || first == '`':
		return s.quoted(first)
	case first >= '0' && first <= '9':
		word := s.word()
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, s.unknown()
		}
		return n, nil
	case first == '$':
		return s.variable(s.word())
	}
	return nil, s.unknown()
}

func (s *script) word() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !isName(r) })
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

func (s *script) variable(name string) (any, error) {
	value, known := s.vars(name)
	switch {
	case known:
		return value, nil
	case strings.Contains(name, "."):
		return "undefined", nil
	default:
		return nil, said("ReferenceError: %s is not defined", name)
	}
}

// quoted reads a string; in a template literal it evaluates ${…}.
func (s *script) quoted(quote byte) (any, error) {
	var out strings.Builder
	s.rest = s.rest[1:]
	for s.rest != "" {
		c := s.rest[0]
		switch {
		case c == quote:
			s.rest = s.rest[1:]
			return out.String(), nil
		case c == '\\' && len(s.rest) > 1:
			out.WriteByte(unescape(s.rest[1]))
			s.rest = s.rest[2:]
		case quote == '`' && strings.HasPrefix(s.rest, "${"):
			s.rest = s.rest[2:]
			v, err := s.sum()
			if s.skip(); err != nil || !strings.HasPrefix(s.rest, "}") {
				return nil, s.unknown()
			}
			s.rest = s.rest[1:]
			out.WriteString(show(v))
		default:
			out.WriteByte(c)
			s.rest = s.rest[1:]
		}
	}
	return nil, s.unknown()
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	default:
		return c
	}
}
