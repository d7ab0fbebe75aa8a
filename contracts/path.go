package contracts

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Path is a parsed reference to a value: steps.n1.facts.matches[0].value, or steps["n3[0]"].facts
// for a name with other characters. Package expr evaluates it.
type Path []PathStep

// PathStep is a member by name or an element by index.
type PathStep struct {
	Name    string
	Index   int
	IsIndex bool
}

// The limits of one path.
const (
	maxPathSteps = 64
	maxPathIndex = 1_000_000
)

// ExprRoots returns the names that an expression may begin with. ParseExpr also accepts
// "parameters" as a synonym of params.
func ExprRoots() []string {
	return []string{"params", "steps", "facts", "artifacts", "result", "context", "item", "budgets", "round"}
}

// ParsePath parses a path. It does not check the root.
func ParsePath(text string) (Path, error) {
	path, rest, err := scanPath(text)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		return nil, Errorf(CodeInvalid, "the path %q has a stray %q", text, rest)
	}
	return path, nil
}

// ParseExpr parses the path of an expression. Its first name must be a known root; "parameters"
// becomes params.
func ParseExpr(text string) (Path, error) {
	path, err := ParsePath(text)
	if err != nil {
		return nil, err
	}
	return path, checkRoot(path)
}

func checkRoot(path Path) error {
	if path[0].Name == "parameters" {
		path[0].Name = "params"
	}
	if !slices.Contains(ExprRoots(), path[0].Name) {
		return Errorf(CodeInvalid, "the path %q begins with no known root; known are %s", path, strings.Join(ExprRoots(), ", "))
	}
	return nil
}

// String returns the path in the syntax of ParsePath.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case step.IsIndex:
			b.WriteString("[" + strconv.Itoa(step.Index) + "]")
		case !isPlainName(step.Name):
			b.WriteString("[" + quoteName(step.Name) + "]")
		case i > 0:
			b.WriteString("." + step.Name)
		default:
			b.WriteString(step.Name)
		}
	}
	return b.String()
}

// Root returns the first name.
func (p Path) Root() string { return p[0].Name }

// scanPath parses the longest path at the beginning of text.
func scanPath(text string) (path Path, rest string, err error) {
	name, rest := scanName(text)
	if name == "" {
		return nil, "", Errorf(CodeInvalid, "the path %q does not begin with a name", text)
	}
	path = Path{{Name: name}}
	for rest != "" && (rest[0] == '.' || rest[0] == '[') {
		var step PathStep
		if step, rest, err = scanStep(rest); err != nil {
			return nil, "", Errorf(CodeInvalid, "the path %q %w", text, err)
		}
		if path = append(path, step); len(path) > maxPathSteps {
			return nil, "", Errorf(CodeInvalid, "the path %.60q has more than %d steps", text, maxPathSteps)
		}
	}
	return path, rest, nil
}

type pathError string

func (e pathError) Error() string { return string(e) }

func scanStep(text string) (step PathStep, rest string, err error) {
	if text[0] == '.' {
		name, rest := scanName(text[1:])
		if name == "" {
			return step, "", pathError("has no name after a dot")
		}
		return PathStep{Name: name}, rest, nil
	}
	if strings.HasPrefix(text, `["`) {
		return scanQuoted(text)
	}
	digits, rest, closed := strings.Cut(text[1:], "]")
	index, err := strconv.ParseUint(digits, 10, 32)
	if !closed || err != nil || index > maxPathIndex {
		return step, "", pathError(`needs an index such as [0], or a name such as ["a b"], in brackets`)
	}
	return PathStep{Index: int(index), IsIndex: true}, rest, nil
}

// scanQuoted parses ["name"], where the name is a JSON string.
func scanQuoted(text string) (step PathStep, rest string, err error) {
	escaped := false
	for i := 2; i < len(text); i++ {
		switch {
		case escaped:
			escaped = false
		case text[i] == '\\':
			escaped = true
		case text[i] == '"':
			var name string
			if json.Unmarshal([]byte(text[1:i+1]), &name) != nil || !strings.HasPrefix(text[i+1:], "]") {
				return step, "", pathError(`needs a JSON string in [" "]`)
			}
			return PathStep{Name: name}, text[i+2:], nil
		}
	}
	return step, "", pathError(`has no end of [" "]`)
}

func scanName(text string) (name, rest string) {
	for i, r := range text {
		if !isNameRune(r) {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func isPlainName(name string) bool {
	plain, rest := scanName(name)
	return plain != "" && rest == ""
}

func quoteName(name string) string {
	raw, err := json.Marshal(name)
	if err != nil {
		return strconv.Quote(name)
	}
	return string(raw)
}
