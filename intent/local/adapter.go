package local

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// Reader turns messages into intents. A Matcher ranks candidates, and confidence gates decide, in
// the same way for all domains. It is safe for concurrent use.
type Reader struct {
	cfg     Config
	matcher Matcher
	local   *Local
}

// New returns a reader. Without a matcher it uses the local one.
func New(cfg Config, matcher ...Matcher) (*Reader, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Reader{cfg: cfg, local: NewLocal(0)}
	a.local.prior, a.local.modelCache = cfg.OutOfScope, cfg.ModelCache
	if cfg.Scorer != nil {
		a.local.scorer, a.local.library, a.local.scorerTold = cfg.Scorer, retrieve.NewVectorCache(cfg.Scorer), cfg.ScorerTold
	}
	a.matcher = a.local
	for _, m := range matcher {
		if m == nil {
			continue
		}
		a.matcher = m
		if l, ok := m.(*Local); ok {
			a.local = l
		}
	}
	return a, nil
}

// Prepare builds and returns the index of a catalog ahead of the first message.
func (a *Reader) Prepare(catalog *contracts.Catalog) *Index { return a.local.Index(catalog) }

// Understand reads a message and applies the gates. An error means an invalid request or a failed
// matcher; a message that matches nothing is a decline.
func (a *Reader) Understand(ctx context.Context, req intent.Request) (intent.Understanding, error) {
	u, _, err := a.Explain(ctx, req)
	return u, err
}

func query(req intent.Request) Query {
	return Query{
		Message: req.Message, Catalog: req.Catalog, Domain: req.Domain, Only: req.Only, Roles: req.Roles, AnyRole: req.AnyRole, Phase: req.Phase, Now: localNow(req),
	}
}

func localNow(req intent.Request) time.Time {
	if req.Now.IsZero() || req.Location == nil {
		return req.Now
	}
	return req.Now.In(req.Location)
}

func (a *Reader) explain(ctx context.Context, q Query) (intent.Understanding, []Clause, error) {
	clauses, err := a.matcher.Match(ctx, q)
	if err != nil {
		return intent.Understanding{}, nil, fmt.Errorf("match the message: %w", err)
	}
	return a.sendResults(q, a.gate(q, clauses)), clauses, nil
}

func (a *Reader) gate(q Query, clauses []Clause) intent.Understanding {
	g := &gating{cfg: a.cfg, q: q, clauses: clauses, ids: map[int]string{}, missingText: a.missingText}
	return g.decide()
}

// Explain is like Understand, and also returns the matcher's clauses before the gates.
func (a *Reader) Explain(ctx context.Context, req intent.Request) (intent.Understanding, []Clause, error) {
	if req.Catalog == nil {
		return intent.Understanding{}, nil, contracts.Errorf(contracts.CodeInvalid, "understand a message: there is no catalog")
	}
	if n := utf8.RuneCountInString(req.Message); n > contracts.MaxMessageChars {
		return intent.Understanding{}, nil, contracts.Errorf(contracts.CodeTooLarge, "the message has %d characters; at most %d can be read", n, contracts.MaxMessageChars)
	}
	return a.explain(ctx, query(req))
}

// Shortlist returns the capabilities that a message may be about, best first, as ranked by the
// local matcher.
func (a *Reader) Shortlist(ctx context.Context, req intent.Request, most int) ([]Ranked, error) {
	if req.Catalog == nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "make a shortlist: there is no catalog")
	}
	return a.local.Shortlist(ctx, query(req), most)
}

// Start starts training and calibration in the background. Until they are done, indexes are
// provisional.
func (a *Reader) Start(ctx context.Context) error { return a.local.Start(ctx) }

// Expect announces a catalog. Its index is built in the background after Start.
func (a *Reader) Expect(catalog *contracts.Catalog) { a.local.Expect(catalog) }

// Stop stops the background work.
func (a *Reader) Stop(ctx context.Context) error { return a.local.Stop(ctx) }

// Settle trains and calibrates the index of a catalog synchronously.
func (a *Reader) Settle(ctx context.Context, catalog *contracts.Catalog) (*Index, error) {
	return a.local.Settle(ctx, catalog)
}

// Fill reads the parameters of one capability from a text, such as the answer to a clarification.
// If only is not empty, it limits the parameters; if it names one parameter, the whole text may be
// its value.
func (a *Reader) Fill(entry *contracts.CapabilityEntry, answer string, only []string, now time.Time) (map[string]any, map[string]contracts.Evidence) {
	f := a.local.fill(entry, answer, only, now)
	return slots.Nested(f.Values, only), slots.NestedEvidence(f.Evidence, only)
}

// Choose converts the choice of a user to an intent. If the user confirms the capability that the
// question was about, the intent is executed as asked, without the words that the question
// excluded. For another capability the parameters are read from the same clause.
func (a *Reader) Choose(catalog *contracts.Catalog, in contracts.Intent, ref string, now time.Time) (contracts.Intent, error) {
	entry, err := catalog.Resolve(ref, in.Domain)
	if err != nil {
		return contracts.Intent{}, fmt.Errorf("choose %s for %s: %w", ref, in.ID, err)
	}
	if in.Utterance != nil && entry.Ref() == in.Ref() { // the values stay as in the question
		in.Confidence, in.Alternatives, in.SnapshotID, in.Utterance = 1, nil, catalog.Snapshot, in.Utterance.ConfirmOmissions()
		return in, nil
	}
	message := in.Clause
	if in.Utterance != nil {
		message = in.Utterance.Text
	}
	best := a.local.rereadAs(catalog, entry, message, in.Clause, now)
	in.Domain, in.Capability = entry.Domain, entry.Capability.Name
	in.Parameters, in.Evidence = slots.Nested(best.Parameters, nil), slots.NestedEvidence(best.Evidence, nil)
	in.Missing, in.Utterance = best.Missing, best.Said
	in.Confidence, in.Alternatives = 1, nil
	in.SnapshotID = catalog.Snapshot
	return in, nil
}

// Unagreed asks about the first write with binding words that are not used and not agreed to. It
// returns false if there is none.
func (a *Reader) Unagreed(catalog *contracts.Catalog, intents []contracts.Intent) (intent.Understanding, bool) {
	for _, in := range intents {
		entry, ok := catalog.Capability(in.Ref())
		if !ok || !entry.Policy.SideEffectClass.Writes() || len(in.Utterance.UnconfirmedWords()) == 0 {
			continue
		}
		c := Candidate{Entry: entry, Confidence: in.Confidence, Parameters: in.Parameters, Said: in.Utterance}
		return intent.Understanding{
			Outcome: contracts.ReadingUnclear, Intents: intents, Unclear: in.ID, Question: without(c), Choices: alternatives([]Candidate{c}),
		}, true
	}
	return intent.Understanding{}, false
}

// gating applies the gates to the clauses of one message.
type gating struct {
	cfg     Config
	q       Query
	clauses []Clause
	ids     map[int]string // intent IDs by clause index
	// missingText returns the text parameter that a write lacks.
	missingText func(*contracts.CapabilityEntry, map[string]any) (name string, ok bool)
	out         intent.Understanding
	refused     []string
	open        *verdict // verdict of the clause that the question is about
}

// verdict is the outcome of the gates for one clause.
type verdict struct {
	outcome  contracts.ReadingOutcome
	choices  []Candidate
	question string
}

func (g *gating) decide() intent.Understanding {
	order := g.sorted()
	for _, i := range order {
		g.clause(i)
	}
	g.link(order)
	switch {
	case len(g.out.Intents) == 0:
		g.decline()
	case g.open != nil:
		g.out.Outcome = contracts.ReadingUnclear
		g.out.Question = g.open.question + g.leftOut()
		g.out.Choices = alternatives(g.open.choices)
	case len(g.out.Unused) > 0 && g.anyWrite() >= 0:
		g.confirmRest()
	default:
		g.out.Outcome = contracts.ReadingAccepted
	}
	return g.out
}

// confirmRest asks before a write is executed although part of the message was not understood.
func (g *gating) confirmRest() {
	in := g.out.Intents[g.anyWrite()]
	g.out.Outcome, g.out.Unclear = contracts.ReadingUnclear, in.ID
	g.out.Question = fmt.Sprintf("I did not understand %s. Shall I do only the rest?", quoteAll(g.out.Unused))
	if entry, ok := g.q.Catalog.Capability(in.Ref()); ok {
		g.out.Choices = alternatives([]Candidate{{Entry: entry, Confidence: in.Confidence}})
	}
}

// leftOut returns a note on the parts of a message that are not executed, since only one question
// is asked at a time.
func (g *gating) leftOut() string {
	if len(g.out.Unused) == 0 {
		return ""
	}
	return fmt.Sprintf(" I leave out %s; say that again by itself.", quoteAll(g.out.Unused))
}

// sorted returns the clauses in topological order; otherwise the order of the sentence.
func (g *gating) sorted() []int {
	var out []int
	done := make([]bool, len(g.clauses))
	var visit func(i, depth int)
	visit = func(i, depth int) {
		if done[i] || depth > len(g.clauses) {
			return
		}
		for _, j := range g.clauses[i].After {
			if j >= 0 && j < len(g.clauses) && j != i {
				visit(j, depth+1)
			}
		}
		if !done[i] {
			done[i] = true
			out = append(out, i)
		}
	}
	for i := range g.clauses {
		visit(i, 0)
	}
	return out
}

// clause turns one clause into an intent, a question, or nothing.
func (g *gating) clause(i int) {
	c := g.clauses[i]
	if c.Rejected {
		g.refused = append(g.refused, c.Text)
		return
	}
	c = g.preferKnown(c)
	v := g.judge(c)
	if v.outcome == contracts.ReadingDeclined {
		g.out.Unused = append(g.out.Unused, c.Text)
		return
	}
	unclear := v.outcome == contracts.ReadingUnclear
	if !unclear {
		g.note(c)
	}
	if unclear && g.open != nil {
		g.out.Unused = append(g.out.Unused, c.Text)
		return
	}
	id := fmt.Sprintf("i%d", len(g.out.Intents)+1)
	g.ids[i] = id
	g.out.Intents = append(g.out.Intents, g.intent(id, c))
	if unclear {
		g.open, g.out.Unclear = &v, id
	}
}

// judge applies the gates to the candidates of a clause.
func (g *gating) judge(c Clause) verdict {
	if len(c.Candidates) == 0 || c.Candidates[0].Confidence < g.cfg.Clarify {
		return verdict{outcome: contracts.ReadingDeclined}
	}
	best := c.Candidates[0]
	if tied := g.tied(c); len(tied) > 1 {
		return verdict{contracts.ReadingUnclear, tied, fmt.Sprintf("%s could mean several things. Which one do you mean?", quote(c.Text))}
	}
	switch {
	case best.Held:
		likely := g.likely(c.Candidates)
		return verdict{contracts.ReadingUnclear, likely, held(c.Text, best, likely)}
	case g.asksBefore(best):
		return verdict{contracts.ReadingUnclear, []Candidate{best}, without(best)}
	case best.Confidence < g.bar(best) && (!askedAnyway(c) || g.bar(best) > DefaultAcceptWrite) && !g.sendsResult(best):
		likely := g.likely(c.Candidates)
		if len(likely) == 1 {
			return verdict{contracts.ReadingUnclear, likely, fmt.Sprintf("By %s, do you mean: %s?", quote(c.Text), describe(best))}
		}
		return verdict{contracts.ReadingUnclear, likely, fmt.Sprintf("I am not sure what you mean by %s. Is it one of these?", quote(c.Text))}
	}
	return verdict{outcome: contracts.ReadingAccepted}
}

// asksBefore reports whether unused words of the message require a confirmation.
func (g *gating) asksBefore(c Candidate) bool {
	p := c.Entry.Policy
	if !p.SideEffectClass.Writes() && (c.excepted || c.unreadForeign) {
		return true
	}
	if !p.SideEffectClass.Writes() || len(c.Missing) > 0 && !c.operated { // ask for missing parameters first: one may be the unread text
		return false
	}
	binding, beside := c.Said.Texts(contracts.WordUnresolved), c.Said.Texts(contracts.WordUnused)
	return len(binding) > 0 || len(beside) > 0 && (!p.ApprovalRequired || p.RiskLevel == contracts.RiskCritical)
}

// note records the unused words of a read.
func (g *gating) note(c Clause) {
	if best := c.Candidates[0]; !best.Entry.Policy.SideEffectClass.Writes() {
		g.out.Unused = append(g.out.Unused, best.Said.Texts(contracts.WordUnresolved)...)
	}
}

// bar returns the confidence threshold of a candidate. Writes have a higher one. A capability may
// raise its threshold, but not lower it.
func (g *gating) bar(c Candidate) float64 {
	if c.Entry.Policy.SideEffectClass.Writes() {
		return max(g.cfg.AcceptWrite, c.Entry.Accept)
	}
	return max(g.cfg.Accept, c.Entry.Accept)
}

// tied returns the candidates that are not clearly worse than the best one.
func (g *gating) tied(clause Clause) []Candidate {
	best := clause.Candidates[0]
	out := []Candidate{best}
	for _, c := range clause.Candidates[1:] {
		margin := g.cfg.TieMargin
		if c.Entry.Domain == best.Entry.Domain {
			margin /= 4
		}
		near := best.Score > 0 && (best.Score-c.Score)/best.Score <= margin && best.Confidence-c.Confidence <= 0.1
		near = near || best.Exact && c.Exact // both match an example exactly
		if near && c.Confidence >= g.cfg.Clarify || g.twins(clause.Text, best, c) {
			out = append(out, c)
		}
	}
	return out[:min(len(out), g.cfg.Suggestions)]
}

// likely returns the candidates to offer in a question.
func (g *gating) likely(candidates []Candidate) []Candidate {
	var out []Candidate
	for _, c := range candidates {
		sure := c.Confidence >= max(0.15, candidates[0].Confidence/3)
		close := c.Confidence >= 0.03 && c.Score >= 0.6*candidates[0].Score
		if len(out) < g.cfg.Suggestions && (len(out) == 0 || sure || close) {
			out = append(out, c)
		}
	}
	return out
}

// intent builds an intent from the best candidate.
func (g *gating) intent(id string, c Clause) contracts.Intent {
	best := c.Candidates[0]
	in := contracts.Intent{
		ID: id, Clause: c.Text, Domain: best.Entry.Domain, Capability: best.Entry.Capability.Name,
		Parameters: slots.Nested(best.Parameters, nil), Confidence: best.Confidence, Missing: best.Missing, Evidence: slots.NestedEvidence(best.Evidence, nil),
		Source: c.Source, SnapshotID: g.q.Catalog.Snapshot, Utterance: best.Said,
	}
	for _, other := range c.Candidates[1:] {
		if other.Confidence >= 0.15 && len(in.Alternatives) < g.cfg.Suggestions {
			in.Alternatives = append(in.Alternatives, other.alternative())
		}
	}
	return in
}

// link converts the dependencies between clauses to dependencies between intents.
func (g *gating) link(order []int) {
	for _, i := range order {
		id, ok := g.ids[i]
		if !ok {
			continue
		}
		for _, j := range g.clauses[i].After {
			before, ok := g.ids[j]
			k, first := g.place(id), g.place(before)
			if ok && first < k { // cycles are broken at the closing edge
				g.out.Intents[k].After = append(g.out.Intents[k].After, before)
			}
		}
	}
}

func (g *gating) place(id string) int {
	return slices.IndexFunc(g.out.Intents, func(in contracts.Intent) bool { return in.ID == id })
}

// anyWrite returns the index of the first write, or -1.
func (g *gating) anyWrite() int {
	return slices.IndexFunc(g.out.Intents, func(in contracts.Intent) bool {
		entry, ok := g.q.Catalog.Capability(in.Ref())
		return !ok || entry.Policy.SideEffectClass.Writes()
	})
}

// decline declines the message and suggests the nearest capabilities, unless the user rejected the
// action.
func (g *gating) decline() {
	g.out.Outcome = contracts.ReadingDeclined
	if len(g.refused) == 0 {
		g.out.Choices = alternatives(g.nearest())
	}
	switch {
	case len(g.refused) > 0:
		g.out.Question = fmt.Sprintf("%s says not to do it; nothing was done.", quoteAll(g.refused))
	case len(g.clauses) == 0:
		g.out.Question = "The message says nothing that I can act on."
	default:
		g.out.Question = fmt.Sprintf("I can do nothing about %s.", quoteAll(g.out.Unused))
	}
}

// nearest returns suggestions: the candidates of the message, followed by the first capabilities
// of each domain.
func (g *gating) nearest() []Candidate {
	var out []Candidate
	add := func(c Candidate) {
		if len(out) < g.cfg.Suggestions && !slices.ContainsFunc(out, func(o Candidate) bool { return o.Entry.Ref() == c.Entry.Ref() }) {
			out = append(out, c)
		}
	}
	for _, c := range g.clauses {
		for _, candidate := range c.Candidates {
			if candidate.Confidence >= 0.05 && !c.Rejected {
				add(candidate)
			}
		}
	}
	s := &sentenceReader{q: g.q}
	for _, d := range g.q.Catalog.Domains {
		for _, e := range d.Capabilities {
			if e.Routable() && s.allowed(&indexed{entry: e}) {
				add(Candidate{Entry: e})
				break
			}
		}
	}
	return out
}
