package contracts

import (
	"strings"
	"unicode/utf8"
)

// TemplatePart is a piece of a text with expressions: literal text, a path, or
// the source of an expression that is more than a path.
type TemplatePart struct {
	Text string
	Path Path
	// Source is an expression in CEL. Package expr compiles it; here it is only
	// found.
	Source string
}

// IsExpression reports whether the part is evaluated.
func (p TemplatePart) IsExpression() bool { return p.Path != nil || p.Source != "" }

// ParseTemplate splits a text at its "${path}" expressions. A backslash before
// "${" makes it plain text. No expression gives one literal part. An expression
// that is no path is a fault: only workflows and plans know more, see
// SplitTemplate.
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

// SplitTemplate splits a text at its "${…}" expressions: paths, and CEL, whose
// closing brace is found by its tokens. A backslash before "${" makes it plain
// text. No expression gives one literal part.
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

// scanExpression reads one expression up to its closing brace. What reads as a
// path is one: it is by far the most frequent, and needs no compiler.
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

// isConstant reports whether what reads as a path is a value of its own.
func isConstant(path Path) bool {
	return len(path) == 1 && (path[0].Name == "true" || path[0].Name == "false" || path[0].Name == "null")
}

// closingBrace finds the brace that ends an expression: not one of a map or of
// a text inside it. It is -1 if there is none.
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

// endOfText gives where the text that begins at i has ended: in one or three
// quotes of either kind; a raw one, after r, knows no backslash.
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

// EscapeTemplates makes plain text of whatever looks like an expression in the texts
// inside v: SplitTemplate gives them back as they were.
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
