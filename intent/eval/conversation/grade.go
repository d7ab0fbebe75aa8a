package conversation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Grade is how well a conversation went.
type Grade string

// The grades.
const (
	// Right is what was meant, or the question, refusal or answer that was due.
	Right Grade = "right"
	// Asked is a sensible question where something was to be done, or a question
	// where none was due.
	Asked Grade = "asked"
	// Wrong is anything else that does no harm.
	Wrong Grade = "wrong"
	// SilentDrop is a write, run or waiting for approval, that contradicts what
	// was meant or leaves out a part of it without a word.
	SilentDrop Grade = "silent-drop"
)

// Judgement is a grade, the reason, and the calls that it rests on.
type Judgement struct {
	Grade Grade
	Why   string
	Calls []Call
	// Effects are writes that ran, that nobody approved and that were not meant.
	Effects int
	// Gates are writes that wait for an approval.
	Gates int
}

// Patterns of answers.
var (
	notUsed = regexp.MustCompile(`(?i)not used|unused|is not taken|isn't used|not taken into|left out|leaves? out|without it|ignor|cannot (?:be )?|can't|does not (?:have|take|know)` +
		`|not (?:possible|supported|understood)|nicht (?:verwendet|benutzt|ber)|não (?:é|foi) usad|no se (?:usa|ha usado)|pas utilis`)
	unable    = regexp.MustCompile(`(?i)can do nothing about|nothing here can|not understood|(?:did|do) not understand`)
	refusal   = regexp.MustCompile(unable.String() + `|says nothing that I can act on`)
	withdrawn = regexp.MustCompile(`(?i)wait|withdr|cancel|not been (?:done|approved)|reject`)
)

// Tags that the grader knows.
const (
	TagAnswer    = "answer-to-question"
	tagCondition = "condition"
	tagQualifier = "qualifier"
	tagSmallTalk = "small-talk"
)

// Judge grades a conversation by its result.
func Judge(set Set, item Item, played Played, catalog Catalog) Judgement {
	if played.Refused != "" {
		return Judgement{Grade: Wrong, Why: "the server answers " + played.Refused}
	}
	c := newCase(set, item, played, catalog)
	j := Judgement{Calls: c.calls}
	j.Effects, j.Gates = c.effects()
	for _, step := range []func() (Grade, string){c.writesMeant, c.replaced, c.silent} {
		if grade, why := step(); grade != "" {
			j.Grade, j.Why = grade, why
			return j
		}
	}
	j.Grade, j.Why = c.outcome()
	return j
}

// effects counts, over all turns, the writes that ran although nobody approved
// them and they were not meant, and those that wait for an approval.
func (c *judged) effects() (effects, gates int) {
	for _, r := range slices.Concat(c.played.Runs, c.played.Old) {
		for _, call := range calls(r, c.played.Names) {
			if call.Gate {
				gates++
			}
			approved := slices.Contains(c.played.Approved, Gate{call.RunID, call.Node})
			meant := slices.ContainsFunc(c.choices, func(a []Action) bool { return c.subset(a, []Call{call}) })
			if call.Write && call.State == contracts.NodeCompleted && !approved && !meant {
				effects++
			}
		}
	}
	return effects, gates
}

// judged is one conversation under judgement.
type judged struct {
	matcher

	item      Item
	played    Played
	choices   [][]Action
	calls     []Call // all that is planned or done
	planned   []Call // those not skipped, whose look-ups do not wait for an answer
	writes    []Call
	reads     []Call
	questions []contracts.Interrupt
	fresh     []contracts.Interrupt
	told      bool
	refused   bool
	rightDo   bool
	heap      string
}

func newCase(set Set, item Item, played Played, catalog Catalog) *judged {
	c := &judged{matcher: matcher{set.Rules, catalog}, item: item, played: played, questions: played.questions(), fresh: played.freshQuestions()}
	if wanted := item.Wanted(); len(wanted) > 0 {
		c.choices = append([][]Action{wanted}, item.OrActions...)
	}
	c.choices = append(c.choices, item.ActsOK...)
	c.sort()
	c.heap = strings.Join(played.Texts(), " ")
	folded := strings.ToLower(c.heap)
	c.told = notUsed.MatchString(c.heap) && slices.ContainsFunc(item.Told, func(w string) bool { return strings.Contains(folded, w) })
	c.rightDo = c.anySame(c.choices, c.planned)
	pattern := refusal
	if item.Tagged(tagSmallTalk) {
		pattern = unable
	}
	c.refused = c.came() == OutcomeAnswer && pattern.MatchString(c.heap)
	return c
}

// sort puts the calls of the runs into what is planned, read and written.
func (c *judged) sort() {
	stuck := map[string]bool{}
	for _, q := range c.questions {
		stuck[q.RunID] = true
	}
	var done []Call
	for _, r := range c.played.Runs {
		for _, call := range calls(r, c.played.Names) {
			if call.State != contracts.NodeCancelled && call.State != contracts.NodeRejected {
				c.calls = append(c.calls, call)
			}
		}
	}
	for _, call := range c.calls {
		if !slices.Contains([]contracts.NodeState{contracts.NodeSkipped, contracts.NodeBlocked, contracts.NodePending, contracts.NodeAwaitingInput}, call.State) {
			done = append(done, call)
		} else if call.Write && !stuck[call.RunID] && call.State != contracts.NodeSkipped {
			c.writes = append(c.writes, call) // will open a gate
		}
	}
	earlier := c.earlierGates()
	c.calls, done = append(c.calls, earlier...), append(done, earlier...)
	for _, call := range done {
		if call.Write {
			c.writes = append(c.writes, call)
		} else {
			c.reads = append(c.reads, call)
		}
	}
	skipped := slices.ContainsFunc(c.item.Wanted(), func(a Action) bool { return a.State == contracts.NodeSkipped })
	for _, call := range c.calls {
		if (skipped || call.State != contracts.NodeSkipped) && (call.Found || !stuck[call.RunID]) {
			c.planned = append(c.planned, call)
		}
	}
}

// earlierGates are the gates of earlier messages where an earlier message was to
// be asked about: they count as done by the answer.
func (c *judged) earlierGates() []Call {
	var out []Call
	if !c.item.Tagged(TagAnswer) {
		return nil
	}
	for _, r := range c.played.Old {
		for _, call := range calls(r, c.played.Names) {
			if call.Gate {
				out = append(out, call)
			}
		}
	}
	return out
}

// writesMeant finds the worst first: a write that nobody meant.
func (c *judged) writesMeant() (Grade, string) {
	if len(c.writes) == 0 {
		return "", ""
	}
	for _, w := range c.writes {
		if slices.Contains(c.item.MustNot, w.Capability) && !slices.ContainsFunc(c.choices, func(a []Action) bool { return c.subset(a, []Call{w}) }) {
			return SilentDrop, "a write that must not be"
		}
	}
	harmless := c.within(c.choices, c.writes)
	if c.item.Expect == OutcomeDo || len(c.item.ActsOK) > 0 {
		if !harmless {
			return SilentDrop, "a write with other values or of another kind"
		}
	} else if grade, why := c.writeNotDue(harmless); grade != "" {
		return grade, why
	}
	if c.item.GateOnly && slices.ContainsFunc(c.writes, func(w Call) bool { return w.State == contracts.NodeCompleted }) {
		return SilentDrop, "ran without an approval"
	}
	return "", ""
}

func (c *judged) writeNotDue(harmless bool) (Grade, string) {
	if len(c.item.Base) > 0 && c.told && c.subset(c.item.Base, c.writes) {
		if c.item.Tagged(tagQualifier) {
			return Right, "done, and said what is not used"
		}
		return Asked, "done, and said what is not used"
	}
	if c.item.Tagged(tagCondition) && !slices.ContainsFunc(c.writes, func(w Call) bool { return !w.When }) {
		return Right, "planned with the condition"
	}
	if !c.item.DoOK || !harmless {
		return SilentDrop, "a write, where a question, a refusal or an answer was due"
	}
	return "", ""
}

// replaced judges a correction whose earlier request still waits.
func (c *judged) replaced() (Grade, string) {
	if !c.item.Replaces || !c.played.waiting() {
		return "", ""
	}
	if c.item.Expect == OutcomeAnswer {
		if withdrawn.MatchString(c.played.answered()) {
			return Right, "the request still waits"
		}
		return Wrong, "the request still waits"
	}
	if c.rightDo {
		return Wrong, "the request that was corrected still waits for approval (beside the right one)"
	}
	return Wrong, "the request that was corrected still waits for approval"
}

func (c *judged) silent() (Grade, string) {
	if c.came() == OutcomeAnswer && strings.TrimSpace(c.heap) == "" {
		return Wrong, "no answer at all"
	}
	return "", ""
}

// came is what the message led to.
func (c *judged) came() Outcome {
	switch {
	case len(c.questions) > 0:
		return OutcomeAsk
	case len(c.planned)+len(c.calls) > 0:
		return OutcomeDo
	default:
		return OutcomeAnswer
	}
}

func (c *judged) accepts(outcomes ...Outcome) bool {
	return slices.ContainsFunc(outcomes, func(o Outcome) bool { return slices.Contains(c.item.Accept, o) })
}

func (c *judged) outcome() (Grade, string) {
	switch c.item.Expect {
	case OutcomeDo:
		return c.actionDue()
	case OutcomeAsk:
		return c.questionDue()
	case OutcomeNoWrite:
		return Right, ""
	default:
		return c.answerDue()
	}
}

func (c *judged) actionDue() (Grade, string) {
	switch {
	case c.rightDo && len(c.fresh) == 0:
		return c.asPlanned()
	case c.came() == OutcomeAsk:
		return c.askedInstead()
	case c.rightDo:
		return Right, ""
	case c.came() == OutcomeDo:
		return Wrong, "something else is done"
	case c.accepts(OutcomeAsk) && !c.refused:
		return Right, ""
	case c.refused:
		return Wrong, "a refusal"
	default:
		return Wrong, "an answer and nothing done"
	}
}

// asPlanned judges the right calls by the places that they have in the plan, and by what
// was said of them.
func (c *judged) asPlanned() (Grade, string) {
	if fault := c.misplaced(); fault != "" {
		return Wrong, fault
	}
	if unsaid := c.unsaid(); unsaid != "" {
		return Wrong, unsaid
	}
	return Right, ""
}

// unsaid reports which pattern the answer does not have.
func (c *judged) unsaid() string {
	for _, pattern := range c.item.Says {
		said, err := regexp.MatchString("(?i)"+pattern, c.played.answered())
		if err != nil || !said {
			return "the answer does not tell " + pattern
		}
	}
	return ""
}

func (c *judged) askedInstead() (Grade, string) {
	if c.item.Tagged(TagAnswer) && (len(c.fresh) == 0 || slices.ContainsFunc(c.fresh, c.repeated)) {
		return Wrong, "the answer to the question was not taken"
	}
	questions := c.fresh
	if len(questions) == 0 {
		questions = c.questions
	}
	var wanted []string
	for _, choice := range c.choices {
		for _, a := range choice {
			wanted = append(wanted, a.Capability)
		}
	}
	if !c.anyAbout(questions, wanted) || !c.within(c.choices, c.writes) {
		return Wrong, "a question about something else"
	}
	if c.accepts(OutcomeAsk) {
		return Right, ""
	}
	return Asked, ""
}

func (c *judged) repeated(q contracts.Interrupt) bool {
	for _, prompt := range c.played.AskedBefore {
		if prompt == q.Prompt {
			return true
		}
	}
	return false
}

func (c *judged) questionDue() (Grade, string) {
	if (len(c.item.ActsOK) > 0 || c.item.DoOK) && c.rightDo {
		return Right, ""
	}
	if grade, why := c.readInstead(); grade != "" {
		return grade, why
	}
	switch c.came() {
	case OutcomeAsk:
		if c.item.For != "" && !c.anyAbout(c.questions, []string{c.item.For}) {
			return Wrong, "a question about something else"
		}
		return Right, ""
	case OutcomeDo:
		if c.item.ReadsOK || c.item.NotThere {
			return Right, "only reads, or nothing found"
		}
		return Wrong, "only reads, or nothing found"
	default:
		if c.accepts(OutcomeDecline, OutcomeAnswer) {
			return Right, "no question"
		}
		return Wrong, "no question"
	}
}

// readInstead judges reads where a question was due.
func (c *judged) readInstead() (Grade, string) {
	for ref, params := range c.item.Never {
		if slices.ContainsFunc(c.reads, func(g Call) bool { return c.fits(Action{Capability: ref, Params: params}, g) }) {
			return Wrong, "what was excepted is done too"
		}
	}
	if len(c.reads) == 0 {
		return "", ""
	}
	for ref, params := range c.item.ReadsAs {
		if !slices.ContainsFunc(c.reads, func(g Call) bool { return !c.fits(Action{Capability: ref, Params: params}, g) }) {
			return Right, ""
		}
	}
	completed := slices.ContainsFunc(c.reads, func(g Call) bool { return g.State == contracts.NodeCompleted })
	switch {
	case c.told:
		return Right, "done, and said what is not used"
	case c.item.ReadsOK:
		return "", ""
	case c.item.NotThere && !completed:
		return Right, "told that there is none"
	default:
		return Wrong, "a read instead of a question"
	}
}

func (c *judged) answerDue() (Grade, string) {
	if len(c.reads) > 0 && !c.item.ReadsOK {
		return Wrong, "something is done"
	}
	if c.came() == OutcomeAsk {
		switch {
		case c.item.Closes:
			return Wrong, "the question stays open or comes again"
		case c.accepts(OutcomeAsk):
			return Right, ""
		default:
			return Asked, ""
		}
	}
	if unsaid := c.unsaid(); unsaid != "" {
		return Wrong, unsaid
	}
	if c.item.Expect == OutcomeAnswer && c.refused && !c.accepts(OutcomeDecline) {
		return Wrong, "a refusal where an answer was due"
	}
	return Right, ""
}

// anyAbout reports whether one of the questions is about one of the capabilities.
func (c *judged) anyAbout(questions []contracts.Interrupt, refs []string) bool {
	return slices.ContainsFunc(questions, func(q contracts.Interrupt) bool { return c.about(q, refs) })
}

func (c *judged) about(q contracts.Interrupt, refs []string) bool {
	if q.RunID != "" {
		for _, r := range append(slices.Clone(c.played.Runs), c.played.Old...) {
			if r.RunID == q.RunID && slices.ContainsFunc(r.Nodes, func(n contracts.NodeView) bool { return slices.Contains(refs, n.Tool) }) {
				return true
			}
		}
		return false
	}
	dump := asJSON(map[string]any{"options": q.Options, "tool_name": q.ToolName, "prompt": q.Prompt, "action": q.Action})
	asked, _ := q.ResponseSchema["description"].(string)
	return slices.ContainsFunc(refs, func(ref string) bool { return c.catalog[ref].mentioned(dump, q.Prompt, asked) })
}

// mentioned reports whether a question names the capability or asks for one of
// its parameters.
func (c Capability) mentioned(dump, prompt, asked string) bool {
	if c.Ref == "" {
		return false
	}
	start := strings.TrimRight(c.Description, ".")
	if r := []rune(start); len(r) > 60 {
		start = string(r[:60])
	}
	if strings.Contains(dump, c.Ref) || start != "" && strings.Contains(dump, start) || strings.Contains(dump, `"`+c.Name+`"`) {
		return true
	}
	return slices.ContainsFunc(c.Asks, func(ask string) bool { return ask != "" && strings.Contains(prompt, ask) }) || asked != "" && slices.Contains(c.Asks, asked)
}
