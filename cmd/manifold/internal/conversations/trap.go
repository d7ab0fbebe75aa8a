package conversations

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/manifold-run/manifold/internal/model/scripted"
)

// trap is a model that proposes a write for everything: the first offered one, with values from the
// message or invented ones.
type trap struct {
	*script

	mu     sync.Mutex // guards writes
	writes map[string]bool
}

// know sets which capabilities write.
func (t *trap) know(writes map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = writes
}

func (t *trap) writesBy(function string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ref := range t.writes {
		if refOf(function, ref) {
			return true
		}
	}
	return false
}

// Answer calls the first offered write.
func (t *trap) Answer(asked scripted.Asked) scripted.Answer {
	answer := declined()
	for _, tool := range asked.Tools {
		if t.writesBy(tool.Name) {
			answer = scripted.Answer{Calls: []scripted.Call{{Name: tool.Name, Arguments: invent(tool.Schema, asked.Last())}}}
			break
		}
	}
	t.note(func(f *ModelMetrics) {
		f.Requests++
		if answer.Fault != "" {
			f.Declined++
		}
	})
	return answer
}

// property is a parameter of a schema.
type property struct {
	Type    any             `json:"type"`
	Format  string          `json:"format"`
	Enum    []any           `json:"enum"`
	Minimum *float64        `json:"minimum"`
	Items   json.RawMessage `json:"items"`
}

func (p property) is(kind string) bool {
	list, _ := p.Type.([]any)
	return p.Type == kind || slices.Contains(list, any(kind))
}

// invent fills the required parameters of a schema, from a message where possible.
func invent(schema json.RawMessage, message string) map[string]any {
	var s struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	out := map[string]any{}
	if json.Unmarshal(schema, &s) != nil {
		return out
	}
	names := s.Required
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	said := newSaid(message)
	for _, name := range names {
		out[name] = said.value(s.Properties[name])
	}
	return out
}

// said holds the parts of a message that values are made of.
type said struct {
	whole   string
	numbers []string
	names   []string
}

var (
	numberWord = regexp.MustCompile(`\d+(?:\.\d+)?`)
	quoted     = regexp.MustCompile(`["“„«']([^"”“»']+)["”“»']`)
)

func newSaid(message string) *said {
	s := &said{whole: message, numbers: numberWord.FindAllString(message, -1)}
	for _, m := range quoted.FindAllStringSubmatch(message, -1) {
		s.names = append(s.names, m[1])
	}
	for n, w := range strings.Fields(message) {
		if w = strings.Trim(w, ".,;:!?"); n > 0 && w != "" && unicode.IsUpper([]rune(w)[0]) {
			s.names = append(s.names, w)
		}
	}
	return s
}

func (s *said) value(p property) any {
	switch {
	case len(p.Enum) > 0:
		for _, v := range p.Enum {
			if t, ok := v.(string); ok && strings.Contains(strings.ToLower(s.whole), strings.ToLower(t)) {
				return v
			}
		}
		return p.Enum[0]
	case p.is("number") || p.is("integer"):
		return s.number(p)
	case p.is("boolean"):
		return true
	case p.is("array"):
		var item property
		_ = json.Unmarshal(p.Items, &item) // no schema means text
		return []any{s.value(item)}
	case p.is("object"):
		return map[string]any{}
	case p.Format == "date":
		return time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	default:
		return s.name()
	}
}

func (s *said) number(p property) any {
	if len(s.numbers) > 0 {
		n, err := strconv.ParseFloat(s.numbers[0], 64)
		s.numbers = s.numbers[1:]
		if err == nil && (p.is("number") || n == float64(int64(n))) {
			return n
		}
	}
	if p.Minimum != nil {
		return max(*p.Minimum, 1)
	}
	return 1
}

// name returns the next name in the message, the last one repeatedly, or the whole message if it
// has none.
func (s *said) name() string {
	if len(s.names) == 0 {
		return s.whole
	}
	name := s.names[0]
	if len(s.names) > 1 {
		s.names = s.names[1:]
	}
	return name
}
