package e2e_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// faultCase is one way to misbehave, met by one write.
type faultCase struct {
	kind   string
	faults []fault
	// always keeps the domain misbehaving.
	always  bool
	want    contracts.NodeState
	effects int
	// attempts is how often it is tried, where that is certain.
	attempts int
	long     bool
}

func faultCases() map[string]faultCase {
	const (
		done    = contracts.NodeCompleted
		unknown = contracts.NodeOutcomeUnknown
		failed  = contracts.NodeFailed
	)
	one := func(f fault) []fault { return []fault{f} }
	return map[string]faultCase{
		"a keyed write waits while the domain is busy":                    {kind: "keyed", faults: []fault{faultBusy, faultBusy}, want: done, effects: 1, attempts: 1},
		"a keyed write is sent again after 503":                           {kind: "keyed", faults: one(fault503), want: done, effects: 1, attempts: 2},
		"a keyed write that a proxy's 503 hid is done once":               {kind: "keyed", faults: one(fault503After), want: done, effects: 1, attempts: 2},
		"a keyed write is sent again after a reset":                       {kind: "keyed", faults: one(faultReset), want: done, effects: 1, attempts: 2},
		"a keyed write that a reset hid is done once":                     {kind: "keyed", faults: []fault{faultResetAfter, faultResetAfter}, want: done, effects: 1, attempts: 3},
		"a keyed write with half an answer is done once":                  {kind: "keyed", faults: one(faultHalfAfter), want: done, effects: 1, attempts: 2},
		"a keyed write that was accepted is asked for":                    {kind: "keyed", faults: one(faultAccepted), want: done, effects: 1, attempts: 1},
		"a keyed write that was accepted and forgotten is done once":      {kind: "keyed", faults: one(faultForgotten), want: done, effects: 1},
		"a keyed write that hangs is sent again":                          {kind: "keyed", faults: one(faultHang), want: done, effects: 1},
		"a keyed write that hangs after it was done is done once":         {kind: "keyed", faults: one(faultHangAfter), want: done, effects: 1},
		"a keyed write with an answer that is no result is done once":     {kind: "keyed", faults: one(faultNonsense), want: done, effects: 1, attempts: 2},
		"a keyed write is unknown, not failed, when all attempts broke":   {kind: "keyed", faults: one(fault503), always: true, want: unknown, effects: 0, attempts: 6},
		"a keyed write that was refused for now is sent again":            {kind: "keyed", faults: one(faultRefusedOnce), want: done, effects: 1, attempts: 2},
		"a keyed write that was refused fails":                            {kind: "keyed", faults: one(faultRefused), want: failed, effects: 0, attempts: 1},
		"a keyed write whose key was used otherwise fails":                {kind: "keyed", faults: one(faultConflict), want: failed, effects: 0, attempts: 1},
		"an unkeyed write waits while the domain is busy":                 {kind: "plain", faults: []fault{faultBusy, faultBusy}, want: done, effects: 1, attempts: 1},
		"an unkeyed write is unknown after 503, though nothing was done":  {kind: "plain", faults: one(fault503), want: unknown, effects: 0, attempts: 1},
		"an unkeyed write is unknown after a proxy's 503":                 {kind: "plain", faults: one(fault503After), want: unknown, effects: 1, attempts: 1},
		"an unkeyed write is unknown after a reset":                       {kind: "plain", faults: one(faultReset), want: unknown, effects: 0, attempts: 1},
		"an unkeyed write that a reset hid is unknown":                    {kind: "plain", faults: one(faultResetAfter), want: unknown, effects: 1, attempts: 1},
		"an unkeyed write with half an answer is unknown":                 {kind: "plain", faults: one(faultHalfAfter), want: unknown, effects: 1, attempts: 1},
		"an unkeyed write that was accepted is asked for":                 {kind: "plain", faults: one(faultAccepted), want: done, effects: 1, attempts: 1},
		"an unkeyed write that was accepted and forgotten is unknown":     {kind: "plain", faults: one(faultForgotten), want: unknown, effects: 1, attempts: 1},
		"an unkeyed write that hangs is unknown":                          {kind: "plain", faults: one(faultHang), want: unknown, effects: 0, attempts: 1},
		"an unkeyed write that hangs after it was done is unknown":        {kind: "plain", faults: one(faultHangAfter), want: unknown, effects: 1, attempts: 1},
		"an unkeyed write with an answer that is no result is unknown":    {kind: "plain", faults: one(faultNonsense), want: unknown, effects: 1, attempts: 1},
		"an unkeyed write that was refused for now is sent again":         {kind: "plain", faults: one(faultRefusedOnce), want: done, effects: 1, attempts: 2},
		"an unkeyed write that does not fit fails":                        {kind: "plain", faults: one(faultInvalid), want: failed, effects: 0, attempts: 1},
		"an unkeyed write that the principal may not do fails":            {kind: "plain", faults: one(faultForbidden), want: failed, effects: 0, attempts: 1},
		"a look-up finds an unkeyed write behind a proxy's 503":           {kind: "traced", faults: one(fault503After), want: done, effects: 1, attempts: 1},
		"a look-up finds an unkeyed write behind a reset":                 {kind: "traced", faults: one(faultResetAfter), want: done, effects: 1, attempts: 1},
		"a look-up finds an unkeyed write behind half an answer":          {kind: "traced", faults: one(faultHalfAfter), want: done, effects: 1, attempts: 1},
		"a look-up finds an unkeyed write that hangs":                     {kind: "traced", faults: one(faultHangAfter), want: done, effects: 1, attempts: 1},
		"a look-up that finds nothing is believed late, then it is sent":  {kind: "traced", faults: one(faultReset), want: done, effects: 1, long: true},
		"a look-up that finds nothing after a hang is believed late, too": {kind: "traced", faults: one(faultHang), want: done, effects: 1, long: true},
	}
}

// hangs reports whether the case needs a short time-out.
func (c faultCase) hangs() bool {
	return c.long || slices.Contains(c.faults, faultHang) || slices.Contains(c.faults, faultHangAfter)
}

func TestWritesMeetFaults(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	cases := faultCases()
	names := make([]string, 0, len(cases))
	for name, c := range cases {
		if !c.long || longTests() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	each(len(names), func(i int) {
		t.Run(names[i], func(t *testing.T) { meetFault(t, s.in(t), depotName(i), cases[names[i]]) })
	})
}

func depotName(i int) string { return "depot" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

func meetFault(t *testing.T, s *site, name string, c faultCase) {
	t.Helper()
	d := newDepot(t, name, func(m *contracts.Manifest) {
		if c.hangs() {
			capability(m, "put_"+c.kind).Metadata.TimeoutMS = 1000
		}
	})
	s.register(d.registration())
	run := s.run(d.put(c.kind, "a", "1")).RunIDs[0]
	gate := s.gates(run, 1)[0]
	d.misbehave(c.faults...)
	if c.always {
		d.alwaysMisbehave(c.faults[0])
	}
	s.approve(gate)
	n := s.node(run, gate.NodeID, contracts.NodeCompleted, contracts.NodeFailed, contracts.NodeOutcomeUnknown)
	if n.State != c.want || d.done("a") != c.effects {
		t.Fatalf("the node is %s with %d effects, want %s with %d\n%s", n.State, d.done("a"), c.want, c.effects, asJSON(n.Error))
	}
	if c.attempts > 0 && n.Attempts != c.attempts {
		t.Errorf("it was tried %d times, want %d", n.Attempts, c.attempts)
	}
	checkKeys(t, d, run, n.NodeID, c.kind)
	d.misbehave()
	if n.State == contracts.NodeOutcomeUnknown {
		settle(t, s, d, run, "a")
	}
	view := s.ended(run)
	want := contracts.RunCompleted
	if c.want == contracts.NodeFailed {
		want = contracts.RunFailed
	}
	if view.State != want {
		t.Errorf("the run ended as %s, want %s\n%s", view.State, want, states2text(view))
	}
	s.sound(view)
}

// checkKeys sees that all calls of a write came under one key, and that the
// header goes only to a domain that honours it.
func checkKeys(t *testing.T, d *depot, run, node, kind string) {
	t.Helper()
	sent := d.sent()
	key := run + "/" + node + "/1"
	if len(sent) != 1 || len(sent[key]) == 0 {
		t.Errorf("calls came under these keys: %v, want only %s", sent, key)
	}
	header := ""
	if kind == "keyed" {
		header = key
	}
	for _, got := range sent[key] {
		if got != header {
			t.Errorf("Idempotency-Key is %q, want %q", got, header)
		}
	}
}

// settle answers an open outcome_unknown with what the domain's own record
// says; a write that was not done is then approved again and done once.
func settle(t *testing.T, s *site, d *depot, run, id string) {
	t.Helper()
	question := s.gates(run, 1)[0]
	if question.Type != contracts.InterruptOutcomeUnknown {
		t.Fatalf("the open question is %s", asJSON(question))
	}
	truth := contracts.AnswerNotApplied
	if d.done(id) > 0 {
		truth = contracts.AnswerApplied
	}
	if _, err := s.otto.Answer(t.Context(), question, truth, client.Opt{}); err == nil {
		t.Error("an approver settled an unknown outcome; that takes an operator")
	}
	if _, err := s.rita.Answer(t.Context(), question, truth, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	if truth == contracts.AnswerNotApplied {
		s.approve(s.gates(run, 1)[0])
	}
	s.node(run, question.NodeID, contracts.NodeCompleted)
	if d.done(id) != 1 {
		t.Errorf("after it was settled as %s there are %d effects", truth, d.done(id))
	}
}
