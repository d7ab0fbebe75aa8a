package contracts

import (
	"strings"
	"unicode/utf8"
)

// TemplatePart is a part of a text with expressions: literal text, a path, or the source of
// another expression.
type TemplatePart struct {
	Text string
	Path Path
	// Source is a CEL expression. It is not compiled here; see package expr.
	Source string
}

// IsExpression reports whether the part must be evaluated.
func (p TemplatePart) IsExpression() bool { return p.Path != nil || p.Source != "" }

// ParseTemplate splits a text at its "${path}" expressions. A backslash before "${" makes it
// plain text. A text without expressions becomes one literal part. An expression that is not a
// path is an error; workflows and plans use SplitTemplate instead.
func ParseTemplate(text string) ([]TemplatePart, error) {
	parts, err := SplitTemplate(text)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if part.Source != "" {
			return nil, Errorf(CodeInvalid, "the expression ${%s is not closed after its path", head(part.Source+"}"))
		}
	}
	return parts, nil
}

// SplitTemplate splits a text at its "${…}" expressions, which are paths or CEL. A backslash
// before "${" makes it plain text. A text without expressions becomes one literal part.
func SplitTemplate(text string) ([]TemplatePart, error) {
	var parts []TemplatePart
	var literal strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		if !found {
			literal.WriteString(text)
			break
		}
		if plain, escaped := strings.CutSuffix(before, `\`); escaped {
			literal.WriteString(plain + "${")
			text = after
			continue
		}
		literal.WriteString(before)
		if literal.Len() > 0 {
			parts = append(parts, TemplatePart{Text: literal.String()})
			literal.Reset()
		}
		part, rest, err := scanExpression(after)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		text = rest
	}
	if literal.Len() > 0 || len(parts) == 0 {
		parts = append(parts, TemplatePart{Text: literal.String()})
	}
	return parts, nil
}

// scanExpression parses one expression up to its closing brace. It tries a path first, which is
// by far the most frequent form and needs no compiler.
func scanExpression(text string) (part TemplatePart, rest string, err error) {
	path, after, pathErr := scanPath(strings.TrimLeft(text, " "))
	if pathErr == nil && !isConstant(path) {
		if rest, closed := strings.CutPrefix(strings.TrimLeft(after, " "), "}"); closed {
			return TemplatePart{Path: path}, rest, checkRoot(path)
		}
	}
	end := closingBrace(text)
	if end < 0 {
		return part, "", Errorf(CodeInvalid, "the expression ${%s is not closed by a brace", head(text))
	}
	source := strings.TrimSpace(text[:end])
	if source == "" {
		return part, "", Errorf(CodeInvalid, "the expression ${} is empty")
	}
	return TemplatePart{Source: source}, text[end+1:], nil
}

// isConstant reports whether a path is one of the constants true, false and null.
func isConstant(path Path) bool {
	return len(path) == 1 && (path[0].Name == "true" || path[0].Name == "false" || path[0].Name == "null")
}

// closingBrace returns the index of the brace that ends an expression, or -1. It skips braces of
// maps and in string literals.
func closingBrace(text string) int {
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '"', '\'':
			end := endOfText(text, i)
			if end < 0 {
				return -1
			}
			i = end
			continue
		case '{', '[', '(':
			depth++
		case ']', ')':
			depth--
		case '}':
			if depth <= 0 {
				return i
			}
			depth--
		}
		i++
	}
	return -1
}

// endOfText returns the index after the string literal that begins at i, or -1 if it is not
// closed. The quotes are single or triple, of either kind. A raw literal, prefixed by r, has no
// escapes.
func endOfText(text string, i int) int {
	quote := text[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
		quote = triple
	}
	raw := i > 0 && (text[i-1] == 'r' || text[i-1] == 'R')
	for j := i + len(quote); j < len(text); j++ {
		switch {
		case text[j] == '\\' && !raw:
			j++
		case strings.HasPrefix(text[j:], quote):
			return j + len(quote)
		}
	}
	return -1
}

// EscapeTemplates returns a copy of v whose strings contain no expressions: SplitTemplate returns
// them as literal text.
func EscapeTemplates(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "${", `\${`)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = EscapeTemplates(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = EscapeTemplates(item)
		}
		return out
	default:
		return v
	}
}

func head(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
