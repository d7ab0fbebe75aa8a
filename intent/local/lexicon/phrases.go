package lexicon

import "slices"

// Operator is a phrase that changes the action or its objects.
type Operator string

// The operators.
const (
	Except     Operator = "except"     // all but, apart from
	Only       Operator = "only"       // just, nothing but
	Unless     Operator = "unless"     // unless, except if
	Provided   Operator = "provided"   // only if, as long as, once she confirms
	Or         Operator = "or"         // one of two
	Until      Operator = "until"      // until, up to
	Instead    Operator = "instead"    // instead of, rather than
	Per        Operator = "per"        // a day, each
	Before     Operator = "before"     // before, prior to
	After      Operator = "after"      // after
	Without    Operator = "without"    // without, minus
	Above      Operator = "above"      // over, more than, exceeds
	Below      Operator = "below"      // under, drops
	AtLeast    Operator = "at_least"   // at least
	AtMost     Operator = "at_most"    // at most, up to
	Around     Operator = "around"     // about, roughly
	Part       Operator = "part"       // half of, some of
	Repeat     Operator = "repeat"     // twice, every day
	Again      Operator = "again"      // again: once more, or back
	Order      Operator = "order"      // second, latest
	Temporary  Operator = "temporary"  // for now
	Likewise   Operator = "likewise"   // the same for
	NotMeant   Operator = "not_meant"  // just kidding
	Afterwards Operator = "afterwards" // later, at some time
)

// operators returns all operators.
func operators() []Operator {
	return []Operator{
		Except, Only, Unless, Provided, Or, Until, Instead, Per, Before, After, Without, Above, Below, AtLeast, AtMost, Around,
		Part, Repeat, Again, Order, Temporary, Likewise, NotMeant, Afterwards,
	}
}

// Direction returns 1 for a lower bound such as "above" or "at least", -1 for an upper bound, and
// 0 for other operators.
func (o Operator) Direction() int {
	if o == Above || o == AtLeast {
		return 1
	}
	if o == Below || o == AtMost {
		return -1
	}
	return 0
}

// Frame is a courtesy phrase around a command.
type Frame string

// The frames stand before or behind a command, or are a whole segment. FrameOrders refers to a
// statement before it. FrameNames introduces a name and is no courtesy.
const (
	FrameBefore Frame = "before" // "could you please"
	FrameBehind Frame = "behind" // "if you don't mind"
	FrameWhole  Frame = "whole"  // "thanks in advance"
	FrameOrders Frame = "orders" // "please enter that"
	FrameNames  Frame = "names"  // "under the name"
	FrameAmid   Frame = "amid"   // "from now on", wherever it stands

	// FrameReplaced introduces the value that a change replaces: "instead of the old page". It is
	// no courtesy.
	FrameReplaced Frame = "replaced"
)

// Reason is a phrase that introduces a reason.
type Reason string

// The reasons.
const (
	ReasonWhy Reason = "why" // "because", "since"
	ReasonFor Reason = "for" // "so that", "in order to"
	ReasonSo  Reason = "so"  // "so": the reason precedes it
)

// Modality is how a request is said if it is not a plain one.
type Modality string

// The modalities of phrases.
const (
	ModalityWhatIf     Modality = "what_if"    // "what would happen if"
	ModalityHowTo      Modality = "how_to"     // "how do I"
	ModalityPermission Modality = "permission" // "can I"
	ModalityQuestion   Modality = "question"   // "did you"
	ModalityMore       Modality = "more"       // asks for an unsupported action: "remind me"
	ModalityNegated    Modality = "negated"    // "no need to"
	ModalityNarrative  Modality = "narrative"  // "I cancelled"
	ModalityPolite     Modality = "polite"     // a question that is a request: "could you"
	ModalityCondition  Modality = "condition"  // "if", for ambiguous words
	ModalityFollowUp   Modality = "follow_up"  // continues an earlier message: "what about"
)

func modalities() []Modality {
	return []Modality{ModalityWhatIf, ModalityHowTo, ModalityPermission, ModalityQuestion, ModalityMore, ModalityNegated, ModalityNarrative, ModalityPolite, ModalityCondition, ModalityFollowUp}
}

// Connective is how two requests are connected.
type Connective string

// The connectives.
const (
	ConnectiveThen     Connective = "then"     // what follows is done afterwards
	ConnectiveContrast Connective = "contrast" // "but"
	ConnectiveAnd      Connective = "and"
	ConnectiveBefore   Connective = "before" // what follows is done afterwards
	ConnectiveAfter    Connective = "after"  // what follows is done first
)

func connectives() []Connective {
	return []Connective{ConnectiveThen, ConnectiveContrast, ConnectiveAnd, ConnectiveBefore, ConnectiveAfter}
}

// Talk is a kind of small talk, which asks for no action.
type Talk string

// The kinds of talk. TalkAround holds words that accompany the others.
const (
	TalkThanks    Talk = "thanks"
	TalkFarewell  Talk = "farewell"
	TalkWellbeing Talk = "wellbeing" // "how are you"
	TalkAsker     Talk = "asker"     // "who am I here"
	TalkAbout     Talk = "about"     // "what can you do"
	TalkApprovals Talk = "approvals" // "why does this need an approval"
	TalkGreeting  Talk = "greeting"
	TalkAround    Talk = "around"
)

// talks returns the kinds by priority: questions precede politeness.
func talks() []Talk {
	return []Talk{TalkApprovals, TalkAsker, TalkAbout, TalkWellbeing, TalkThanks, TalkFarewell, TalkGreeting, TalkAround}
}

// TalkOf returns the kind of a text that consists only of small talk. Every word is in a phrase of
// talk, and at least one in a kind other than TalkAround. Of several kinds it returns the one with
// the highest priority. Modal particles are ignored: "What can you actually do" is "what can you
// do".
func TalkOf[T Spoken](l *Lexica, tokens []T) (Talk, bool) {
	if kind, ok := talkOf(l, tokens); ok {
		return kind, true
	}
	plain := slices.DeleteFunc(slices.Clone(tokens), func(t T) bool { return t.Spelling().Has(Stress) })
	if len(plain) == len(tokens) {
		return "", false
	}
	return talkOf(l, plain)
}

func talkOf[T Spoken](l *Lexica, tokens []T) (Talk, bool) {
	kind := TalkAround
	for at := 0; at < len(tokens); {
		hit, ok := Find(&l.Talk, tokens, at)
		if !ok {
			return "", false
		}
		if slices.Index(talks(), hit.Value) < slices.Index(talks(), kind) {
			kind = hit.Value
		}
		at += hit.Tokens
	}
	return kind, kind != TalkAround
}
