package contracts

import (
	"maps"
	"slices"
	"strings"
)

// Utterance is the message that an intent was read from, with a class for each of its words. It
// is copied from the intent to the node and to the action, so that an approver sees the request
// beside the planned call. It is immutable: its methods return copies.
type Utterance struct {
	// Text is the whole, unchanged message.
	Text string `json:"text"`
	// Words are runs of adjacent words of the same class, in text order. They do not overlap, and
	// together they cover every word of Text.
	Words []WordUse `json:"words,omitempty"`
	// Values maps each parameter to the source of its value.
	Values map[string]Provenance `json:"values,omitempty"`
}

// WordUse is the use of adjacent words of a message for one intent.
type WordUse struct {
	// Span is [start, end) in bytes of the text.
	Span  [2]int    `json:"span"`
	Class WordClass `json:"class"`
	// Parameter is the parameter that the words are a value of, if Class is value.
	Parameter string `json:"parameter,omitempty"`
	// Confirmed means that the requester was asked about these words and confirmed the action
	// without them.
	Confirmed bool `json:"agreed,omitempty"`
}

// WordClass is the role of a word for an intent. Each word has exactly one.
type WordClass string

// The classes.
const (
	// WordValue is part of a value.
	WordValue WordClass = "value"
	// WordCommand requests the action.
	WordCommand WordClass = "command"
	// WordOther belongs to another request of the message.
	WordOther WordClass = "other_request"
	// WordCourtesy is politeness.
	WordCourtesy WordClass = "courtesy"
	// WordIrrelevant is unused and requests nothing.
	WordIrrelevant WordClass = "aside"
	// WordUnused is unused and would not change the action.
	WordUnused WordClass = "beside"
	// WordUnresolved is unused although it is significant: without it the action differs from the
	// request.
	WordUnresolved WordClass = "binding"
)

// Provenance is the source of a value.
type Provenance string

// The sources of values. FromModel is a value from a model that no word of the message, no answer
// and no search confirms.
const (
	FromUtterance Provenance = "said"
	FromCarried   Provenance = "carried"
	FromAnswer    Provenance = "answered"
	FromLookup    Provenance = "looked_up"
	FromDefault   Provenance = "default"
	FromComputed  Provenance = "computed"
	FromModel     Provenance = "model"
)

// Texts returns the texts of the words of the given classes, in order.
func (s *Utterance) Texts(classes ...WordClass) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, w := range s.Words {
		if slices.Contains(classes, w.Class) && w.Span[0] >= 0 && w.Span[0] < w.Span[1] && w.Span[1] <= len(s.Text) {
			out = append(out, s.Text[w.Span[0]:w.Span[1]])
		}
	}
	return out
}

// HasOmissions reports whether the action leaves out words of the message: unused ones, or
// unresolved ones that the requester agreed to leave out. Such an action is excluded from bulk
// approvals and standing permissions.
func (s *Utterance) HasOmissions() bool { return len(s.Texts(WordUnused, WordUnresolved)) > 0 }

// With returns a copy with the source of a parameter's value set. The receiver may be nil.
func (s *Utterance) With(parameter string, from Provenance) *Utterance {
	out := s.clone()
	out.Values[parameter] = from
	return out
}

// At returns a copy for a call with params, of which given were known before planning. A
// parameter that is an expression is marked as looked up, unless it was carried over or came from
// a model. A given one without a source is marked as a default. It returns nil for a nil
// receiver.
func (s *Utterance) At(params, given map[string]any) *Utterance {
	if s == nil {
		return nil
	}
	out := s
	for name, value := range params {
		text, _ := value.(string)
		switch {
		case strings.HasPrefix(text, "${") && (s.Values[name] == FromCarried || s.Values[name] == FromModel): // keep the source, so that the approver sees that it was not in this message
		case strings.HasPrefix(text, "${"):
			out = out.With(name, FromLookup)
		case s.Values[name] != "":
		case given[name] != nil:
			out = out.With(name, FromDefault)
		default: // an item of a list in the message
			out = out.With(name, FromUtterance)
		}
	}
	return out
}

// Fill returns a copy in which a parameter is set by an answer. Unresolved words that equal the
// answer become its value.
func (s *Utterance) Fill(parameter string, answer any) *Utterance {
	out := s.With(parameter, FromAnswer)
	text, ok := answer.(string)
	if !ok || text == "" {
		return out
	}
	for i, w := range out.Words {
		if w.Class == WordUnresolved && strings.EqualFold(out.Text[w.Span[0]:w.Span[1]], text) {
			out.Words[i].Class, out.Words[i].Parameter = WordValue, parameter
		}
	}
	return out
}

// UnconfirmedWords returns the unresolved words that the requester has not agreed to leave out.
func (s *Utterance) UnconfirmedWords() []string {
	if s == nil {
		return nil
	}
	open := &Utterance{Text: s.Text}
	for _, w := range s.Words {
		if !w.Confirmed {
			open.Words = append(open.Words, w)
		}
	}
	return open.Texts(WordUnresolved)
}

// ConfirmOmissions returns a copy in which the unresolved words are confirmed as left out.
func (s *Utterance) ConfirmOmissions() *Utterance {
	if s == nil {
		return nil
	}
	out := s.clone()
	for i := range out.Words {
		out.Words[i].Confirmed = out.Words[i].Class == WordUnresolved
	}
	return out
}

func (s *Utterance) clone() *Utterance {
	out := &Utterance{Values: map[string]Provenance{}}
	if s == nil {
		return out
	}
	out.Text, out.Words = s.Text, slices.Clone(s.Words)
	maps.Copy(out.Values, s.Values)
	return out
}

// Lines returns the message and its unused words as labelled lines, for approvers.
func (s *Utterance) Lines() [][2]string {
	if s == nil || s.Text == "" {
		return nil
	}
	out := [][2]string{{"said", "“" + CleanSummary(s.Text) + "”"}}
	for _, part := range []struct {
		name  string
		class WordClass
	}{{"not used", WordUnused}, {"left out, as agreed", WordUnresolved}, {"said aside", WordIrrelevant}} {
		if words := s.Texts(part.class); len(words) > 0 {
			out = append(out, [2]string{part.name, "“" + CleanSummary(strings.Join(words, "” “")) + "”"})
		}
	}
	return out
}

// Words returns the source of a value for display, or "" if it was in the message.
func (p Provenance) Words() string {
	switch p {
	case FromUtterance, "":
		return ""
	case FromCarried:
		return "carried over"
	default:
		return strings.ReplaceAll(string(p), "_", " ")
	}
}
