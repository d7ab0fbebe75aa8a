package lexicon

import "slices"

// Operator is a word or several that change what is done, or to what: never
// courtesy.
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

// operators are those that a file may have.
func operators() []Operator {
	return []Operator{
		Except, Only, Unless, Provided, Or, Until, Instead, Per, Before, After, Without, Above, Below, AtLeast, AtMost, Around,
		Part, Repeat, Again, Order, Temporary, Likewise, NotMeant, Afterwards,
	}
}

// Direction is 1 for what compares upwards, as "above" and "at least" do, -1 for
// what compares downwards, 0 for all others.
func (o Operator) Direction() int {
	if o == Above || o == AtLeast {
		return 1
	}
	if o == Below || o == AtMost {
		return -1
	}
	return 0
}

// Frame is courtesy around a command.
type Frame string

// The frames: some stand before a command, some behind it, some are a whole
// segment. Some ask for what was told before them. Behind others stands how something is to
// be called; they are no courtesy.
const (
	FrameBefore Frame = "before" // "could you please"
	FrameBehind Frame = "behind" // "if you don't mind"
	FrameWhole  Frame = "whole"  // "thanks in advance"
	FrameOrders Frame = "orders" // "please enter that"
	FrameNames  Frame = "names"  // "under the name"
	FrameAmid   Frame = "amid"   // "from now on", wherever it stands

	// FrameReplaced is what makes room for a new value, and no courtesy either: "instead of
	// the old page".
	FrameReplaced Frame = "replaced"
)

// Reason is a word behind which stands why.
type Reason string

// The reasons.
const (
	ReasonWhy Reason = "why" // "because", "since"
	ReasonFor Reason = "for" // "so that", "in order to"
	ReasonSo  Reason = "so"  // "so": what is before says why
)

// Modality is how something is said, when it is not a plain request.
type Modality string

// The modalities that phrases tell.
const (
	ModalityWhatIf     Modality = "what_if"    // "what would happen if"
	ModalityHowTo      Modality = "how_to"     // "how do I"
	ModalityPermission Modality = "permission" // "can I"
	ModalityQuestion   Modality = "question"   // "did you"
	ModalityMore       Modality = "more"       // asks for what nothing here does: "remind me"
	ModalityNegated    Modality = "negated"    // "no need to"
	ModalityNarrative  Modality = "narrative"  // "I cancelled"
	ModalityPolite     Modality = "polite"     // a question that is a request: "could you"
	ModalityCondition  Modality = "condition"  // "if", where the word has other meanings too
	ModalityFollowUp   Modality = "follow_up"  // goes on from something said before: "what about"
)

func modalities() []Modality {
	return []Modality{ModalityWhatIf, ModalityHowTo, ModalityPermission, ModalityQuestion, ModalityMore, ModalityNegated, ModalityNarrative, ModalityPolite, ModalityCondition, ModalityFollowUp}
}

// Connective is how two requests are connected.
type Connective string

// The connectives.
const (
	ConnectiveThen     Connective = "then"     // what follows is done after
	ConnectiveContrast Connective = "contrast" // "but"
	ConnectiveAnd      Connective = "and"
	ConnectiveBefore   Connective = "before" // what follows is done after what is before it
	ConnectiveAfter    Connective = "after"  // what follows is done first
)

func connectives() []Connective {
	return []Connective{ConnectiveThen, ConnectiveContrast, ConnectiveAnd, ConnectiveBefore, ConnectiveAfter}
}

// Talk is what is said to be polite or curious, and asks for nothing that is done.
type Talk string

// The kinds of talk. Around are words that stand beside all others and say nothing
// by themselves.
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

// talks are the kinds, what asks for an answer before what only is polite.
func talks() []Talk {
	return []Talk{TalkApprovals, TalkAsker, TalkAbout, TalkWellbeing, TalkThanks, TalkFarewell, TalkGreeting, TalkAround}
}

// TalkOf tells what a text says that is nothing but talk: every word is in a phrase of
// it, and one of them is more than a word around the others. It tells the kind that
// most wants an answer. "What can you actually do" is "what can you do".
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
