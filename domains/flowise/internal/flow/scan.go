package flow

import (
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds the nesting of flowData. Real flows stay below 20.
const maxDepth = 200

// scanner validates JSON without building values, so that a flow of many megabytes needs no extra
// memory.
type scanner struct {
	src []byte
	pos int
}

// checkJSON returns an error unless src is exactly one JSON value in UTF-8.
func checkJSON(src []byte) error {
	if !utf8.Valid(src) {
		return fmt.Errorf("is not UTF-8")
	}
	s := scanner{src: src}
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.pos != len(src) {
		return s.errorf("text after the end")
	}
	return nil
}

func (s *scanner) errorf(what string) error {
	if s.pos >= len(s.src) {
		return fmt.Errorf("is no JSON: it ends too early")
	}
	return fmt.Errorf("is no JSON: %s at byte %d", what, s.pos)
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) value(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("is nested more than %d levels deep", maxDepth)
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.word()
	}
}

func (s *scanner) object(depth int) error {
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.errorf("a key should stand")
		}
		if err := s.text(); err != nil {
			return err
		}
		s.space()
		if s.peek() != ':' {
			return s.errorf("a colon should stand")
		}
		s.pos++
		s.space()
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if done, err := s.next('}'); done || err != nil {
			return err
		}
	}
}

func (s *scanner) array(depth int) error {
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if done, err := s.next(']'); done || err != nil {
			return err
		}
	}
}

// next advances past a comma to the next item, or past the end.
func (s *scanner) next(end byte) (done bool, err error) {
	s.space()
	switch s.peek() {
	case end:
		s.pos++
		return true, nil
	case ',':
		s.pos++
		s.space()
		return false, nil
	default:
		return false, s.errorf("a comma should stand")
	}
}

func (s *scanner) text() error {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.errorf("a control character stands in a string")
		}
	}
	return s.errorf("")
}

// escape stops at the last byte of the escape.
func (s *scanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if !isHex(s.peek()) {
				return s.errorf("a bad \\u escape stands")
			}
		}
		return nil
	default:
		return s.errorf("a bad escape stands")
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.errorf("a digit should stand")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.errorf("a digit should stand")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.errorf("a digit should stand")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) word() error {
	for _, word := range [...]string{"true", "false", "null"} {
		if rest := s.src[s.pos:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			s.pos += len(word)
			return nil
		}
	}
	return s.errorf("a value should stand")
}
