package contracts

import (
	"maps"
	"slices"
	"strings"
)

// Utterance is the message that an intent was read from, with a class for each of its words.
// It is passed from the intent to the node and to the action, so that an approver sees what
// was asked for beside what will be done. It is never changed in place: its methods return
// copies.
type Utterance struct {
	// Text is the whole message as it was said.
	Text string `json:"text"`
	// Words are runs of neighbouring words of one class, in the order of the text.
	// They do not overlap, and every word of Text is in one of them.
	Words []WordUse `json:"words,omitempty"`
	// Values tells for each parameter where its value comes from.
	Values map[string]Provenance `json:"values,omitempty"`
}

// WordUse describes what some words of a message are to one intent.
type WordUse struct {
	// Span is [start, end) in bytes of the text.
	Span  [2]int    `json:"span"`
	Class WordClass `json:"class"`
	// Parameter is what the words are a value of, where Class is value.
	Parameter string `json:"parameter,omitempty"`
	// Confirmed means that the requester was asked about these words, and wants the
	// action without them.
	Confirmed bool `json:"agreed,omitempty"`
}

// WordClass is what a word is to an intent. Each word has exactly one.
type WordClass string

// The classes.
const (
	// WordValue is part of a value.
	WordValue WordClass = "value"
	// WordCommand asks for the action.
	WordCommand WordClass = "command"
	// WordOther belongs to another request of the message.
	WordOther WordClass = "other_request"
	// WordCourtesy is politeness.
	WordCourtesy WordClass = "courtesy"
	// WordIrrelevant is not used, and asks for nothing.
	WordIrrelevant WordClass = "aside"
	// WordUnused is not used, and would not change the action.
	WordUnused WordClass = "beside"
	// WordUnresolved is not used although it matters: the action without it is another one than
	// was asked for.
	WordUnresolved WordClass = "binding"
)

// Provenance specifies where a value comes from.
type Provenance string

// Where values come from. A model's is one that a model gave and that no word of
// the message, no answer and no search shows.
const (
	FromUtterance Provenance = "said"
	FromCarried   Provenance = "carried"
	FromAnswer    Provenance = "answered"
	FromLookup    Provenance = "looked_up"
	FromDefault   Provenance = "default"
	FromComputed  Provenance = "computed"
	FromModel     Provenance = "model"
)

// Texts returns the texts of the words that have one of the classes, in order.
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

// HasOmissions reports whether something that was said is not in the action: words that
// are beside it, or binding ones that the requester agreed to leave out. What is
// marked takes no bulk approval and no standing permission.
func (s *Utterance) HasOmissions() bool { return len(s.Texts(WordUnused, WordUnresolved)) > 0 }

// With returns a copy in which a parameter's value comes from elsewhere. It may be
// called on nil.
func (s *Utterance) With(parameter string, from Provenance) *Utterance {
	out := s.clone()
	out.Values[parameter] = from
	return out
}

// At returns a copy for a call with these parameters, of which those given were known
// before it was planned: what an expression reads is looked up, and what nobody gave
// is a default. At of nil is nil.
func (s *Utterance) At(params, given map[string]any) *Utterance {
	if s == nil {
		return nil
	}
	out := s
	for name, value := range params {
		text, _ := value.(string)
		switch {
		case strings.HasPrefix(text, "${") && (s.Values[name] == FromCarried || s.Values[name] == FromModel): // who approves is told that nobody said it now
		case strings.HasPrefix(text, "${"):
			out = out.With(name, FromLookup)
		case s.Values[name] != "":
		case given[name] != nil:
			out = out.With(name, FromDefault)
		default: // one item of a list that was said
			out = out.With(name, FromUtterance)
		}
	}
	return out
}

// Fill returns a copy in which an answer set a parameter. Words that nobody had read
// and that the answer repeats are read now.
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

// UnconfirmedWords returns the unresolved words that nobody agreed to leave out.
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

// ConfirmOmissions returns a copy in which the requester wants the action without its
// unresolved words.
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

// Lines is the sentence for people who decide about it: what was said, and what of
// it is not used, each with its name.
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

// Words is where a value comes from, for people; "" if it was said.
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
