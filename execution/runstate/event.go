package runstate

import (
	"slices"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Event is a change of a run. The set is closed: handlers of nodes can only apply these.
type Event interface {
	apply(s *State, at time.Time, c *Changes)
}

// Apply applies an event to the state and adds the changes to c: rows, ledger entries, events for
// people. Nodes that become ready or are skipped because of it are included. After an error nothing
// may be committed.
func (s *State) Apply(at time.Time, e Event, c *Changes) error {
	e.apply(s, at, c)
	return c.fault
}

// RunResumed resumes a run after a restart or a change of owner: pending nodes that can run are
// found, and calls that were in flight are tried again.
type RunResumed struct{}

func (RunResumed) apply(s *State, at time.Time, c *Changes) {
	for _, n := range s.graph.nodes {
		switch n.State() {
		case contracts.NodePending:
			s.examine(at, c, n)
		case contracts.NodeReady, contracts.NodeQueued, contracts.NodeRunning:
			s.graph.wake(n)
		default:
		}
	}
}

// RowUpdated replaces the row of a node that has not ended.
type RowUpdated struct{ Row *Row }

func (e RowUpdated) apply(s *State, at time.Time, c *Changes) {
	n := s.graph.byID[e.Row.NodeID]
	begins := n.begins(e.Row)
	s.put(at, c, n, e.Row)
	if begins {
		s.emit(at, c, n, nodeStart())
	}
}

// EventEmitted adds an event for people who watch the run.
type EventEmitted struct {
	Node  string
	Event contracts.Event
}

func (e EventEmitted) apply(s *State, at time.Time, c *Changes) {
	s.emit(at, c, s.graph.byID[e.Node], e.Event)
}

// ContentStored stores the contents of a result.
type ContentStored struct {
	Blobs []Blob
	Data  []NodeData
}

func (e ContentStored) apply(_ *State, at time.Time, c *Changes) {
	c.mark(at)
	c.Blobs, c.Data = append(c.Blobs, e.Blobs...), append(c.Data, e.Data...)
}

// InterruptOpened opens an interrupt. The node waits for the answer.
type InterruptOpened struct {
	Row  *Row
	Gate contracts.Interrupt
}

func (e InterruptOpened) apply(s *State, at time.Time, c *Changes) {
	n := s.graph.byID[e.Row.NodeID]
	e.Row.GateID, e.Row.WaitingSince = e.Gate.InterruptID, time.Time{}
	e.Row.Begin(at)
	RowUpdated{Row: e.Row}.apply(s, at, c)
	n.Gate = &e.Gate
	c.Gates = append(c.Gates, e.Gate)
	s.emit(at, c, n, contracts.Event{Type: contracts.EventInterrupt, Status: string(e.Gate.Type), Summary: e.Gate.Prompt})
}

// InterruptResolved records the decision or answer to a node's question.
type InterruptResolved struct {
	Node string
	Gate *contracts.Interrupt
}

func (e InterruptResolved) apply(s *State, at time.Time, c *Changes) {
	n, last, kind := s.graph.byID[e.Node], LastDecision(e.Gate), contracts.LedgerDecision
	if e.Gate.Type == contracts.InterruptOutcomeUnknown {
		kind = contracts.LedgerSettled
	}
	n.Gate = e.Gate
	entry := contracts.LedgerEntry{Kind: kind, ActionSHA256: e.Gate.ActionSHA256, Actor: last.DecidedBy, KeyID: last.KeyID, From: last.From}
	if last.Decision == contracts.DecisionApprove {
		entry.Key = string(last.Relation)
	}
	s.record(at, c, n, entry, decisionPayload(e.Gate))
	s.emit(at, c, n, contracts.Event{
		Type: contracts.EventInterruptResolved, Status: string(e.Gate.Status),
		Summary: said(last),
	})
}

// said describes a decision. It always mentions that a person approved their own request.
func said(d contracts.InterruptDecided) string {
	text := string(d.Decision) + " by " + d.DecidedBy
	if d.Decision == contracts.DecisionApprove && d.Relation != "" {
		text += ", its requester"
	}
	return text
}

// InterruptSuperseded closes an interrupt that needs no answer any more.
type InterruptSuperseded struct{ Node string }

func (e InterruptSuperseded) apply(s *State, _ time.Time, _ *Changes) {
	n := s.graph.byID[e.Node]
	gate := *n.Gate
	gate.Status = contracts.InterruptSuperseded
	n.Gate = &gate
}

// WriteAnnounced records the intent of a write. The write may be sent only after this is committed.
type WriteAnnounced struct {
	Row    *Row
	Intent Intent
}

func (e WriteAnnounced) apply(s *State, at time.Time, c *Changes) {
	n := s.graph.byID[e.Row.NodeID]
	n.Intent = &e.Intent
	c.Intents = append(c.Intents, e.Intent)
	s.record(at, c, n, contracts.LedgerEntry{
		Kind: contracts.LedgerIntent, ActionSHA256: e.Intent.ActionSHA256, Key: e.Intent.Key, Actor: s.Run.Plan.Owner.ID,
	}, e.Row.Params)
	e.Row.Begin(at)
	RowUpdated{Row: e.Row}.apply(s, at, c)
}

// AnnouncementRefused undoes WriteAnnounced after its commit failed: the write is still
// approved and may be announced again.
type AnnouncementRefused struct{ Node string }

func (e AnnouncementRefused) apply(s *State, at time.Time, c *Changes) {
	n := s.graph.byID[e.Node]
	row := n.Next()
	n.Intent = nil
	row.Writes--
	row.Step, row.State = StepApproved, contracts.NodeReady
	s.put(at, c, n, row)
}

// OutcomeObserved sets the outcome of a write that was read from the store.
type OutcomeObserved struct {
	Node    string
	Outcome *Outcome
}

func (e OutcomeObserved) apply(s *State, _ time.Time, _ *Changes) {
	n := s.graph.byID[e.Node]
	seen := *n.Intent // the goroutine of the call may be reading the other one
	seen.Outcome = e.Outcome
	n.Intent = &seen
}

// IntentSettled ends the intent of a write. Later outcomes are recorded and change nothing.
type IntentSettled struct{ Node string }

func (e IntentSettled) apply(s *State, at time.Time, c *Changes) {
	s.consume(at, c, s.graph.byID[e.Node])
}

// WriteAborted drops an announced write and its locks.
type WriteAborted struct{ Node string }

func (e WriteAborted) apply(s *State, at time.Time, c *Changes) {
	s.withdraw(at, c, s.graph.byID[e.Node])
}

// NodeEnded is the outcome of a node. Its result, what it spent and the nodes that it adds are one
// event, so that no dependent node can start in between. Row has the final state.
type NodeEnded struct {
	Row *Row
	// Expansion has the nodes that this node adds to the run: a new round of a region, or the
	// proposal of a replanner. It is nil if there are none.
	Expansion *Expansion
}

func (e NodeEnded) apply(s *State, at time.Time, c *Changes) {
	n, row := s.graph.byID[e.Row.NodeID], e.Row
	begins := n.begins(row)
	s.withdraw(at, c, n)
	row.FinishedAt, row.Step, row.QueuedFor, row.NextAt, row.Wrong = &at, StepNone, "", time.Time{}, nil
	entry := contracts.LedgerEntry{Kind: contracts.LedgerOutcome, Key: row.Key(s.Run.ID)}
	s.record(at, c, n, entry, outcomeOf(row))
	s.put(at, c, n, row)
	if begins {
		s.emit(at, c, n, nodeStart())
	}
	s.emit(at, c, n, endEvent(row, at))
	if e.Expansion != nil {
		s.expand(at, c, n, *e.Expansion)
	}
	s.release(at, c, n)
}

// NodeExpanded appends one copy of a node for each item of its list. The node then ends as
// their join.
type NodeExpanded struct {
	Row    *Row
	Copies []contracts.Node
}

func (e NodeExpanded) apply(s *State, at time.Time, c *Changes) {
	n := s.graph.byID[e.Row.NodeID]
	e.Row.Begin(at)
	e.Row.Expanded, e.Row.State = true, contracts.NodePending
	RowUpdated{Row: e.Row}.apply(s, at, c)
	s.expand(at, c, n, Expansion{Nodes: e.Copies})
	for _, m := range n.members {
		s.examine(at, c, m)
	}
	s.examine(at, c, n)
}

// SearchRepeated reopens a search that has ended: it runs again with other parameters, and
// so does the choice among its results.
type SearchRepeated struct {
	Choice, Search string
	Edited         map[string]any
	// By are the people whose text is searched for.
	By []string
}

func (e SearchRepeated) apply(s *State, at time.Time, c *Changes) {
	choice, search := s.graph.byID[e.Choice], s.graph.byID[e.Search]
	s.reopen(search)
	fresh := func(n *Node) *Row {
		return &Row{
			NodeID: n.ID(), Spec: n.Row.Spec, Place: n.Row.Place, State: contracts.NodePending,
			CallRow: CallRow{Editors: n.Row.Editors},
		}
	}
	choice.Gate = nil
	s.put(at, c, choice, fresh(choice))
	row := fresh(search)
	row.Edited, row.State = e.Edited, contracts.NodeReady
	for _, who := range e.By {
		if !slices.Contains(row.Editors, who) {
			row.Editors = append(slices.Clip(row.Editors), who)
		}
	}
	s.put(at, c, search, row)
}

// CancelRequested records the request to cancel the run.
type CancelRequested struct {
	At *time.Time
	By string
}

func (e CancelRequested) apply(s *State, _ time.Time, _ *Changes) {
	s.Run.CancelRequestedAt, s.Run.CancelledBy = e.At, e.By
}

// RunFinished ends the run with its verdict, nil if it has none.
type RunFinished struct{ Verdict *contracts.Verdict }

func (e RunFinished) apply(s *State, at time.Time, c *Changes) {
	if e.Verdict != nil && !e.Verdict.Shadow {
		s.emit(at, c, nil, contracts.Event{Type: contracts.EventVerdict, Status: string(e.Verdict.Status), Summary: firstOf(e.Verdict.Reasons)})
	}
	s.emit(at, c, nil, contracts.Event{Type: contracts.EventDone, Status: string(s.RunState())})
}

func firstOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// Expansion is what an expand entry adds to a run: the copies of a repeated node, new instances of
// the steps of a region, or the nodes of a replan.
type Expansion struct {
	Of    string           `json:"of"`
	Nodes []contracts.Node `json:"nodes"`
	// Cause is the rule that caused a new round of a region; Round describes the round. Copies have
	// neither.
	Cause string           `json:"cause,omitempty"`
	Round *contracts.Round `json:"round,omitempty"`
}

// expand appends nodes, with an entry in the ledger.
func (s *State) expand(at time.Time, c *Changes, n *Node, x Expansion) {
	x.Of = n.ID()
	s.record(at, c, n, contracts.LedgerEntry{Kind: contracts.LedgerExpand}, x)
	s.emit(at, c, n, contracts.Event{Type: contracts.EventExpand, Summary: strconv.Itoa(len(x.Nodes)) + " steps were added"})
	s.appendNodes(at, c, x)
}

// AnswerNodeAdded appends the node that words the results of the run, once all others have
// ended. By is a node that has a result.
type AnswerNodeAdded struct {
	By   string
	Node contracts.Node
}

func (e AnswerNodeAdded) apply(s *State, at time.Time, c *Changes) {
	x := Expansion{Of: e.By, Nodes: []contracts.Node{e.Node}, Cause: string(contracts.KindAnswer)}
	s.record(at, c, s.graph.byID[e.By], contracts.LedgerEntry{Kind: contracts.LedgerExpand}, x)
	s.appendNodes(at, c, x)
}

// appendNodes adds the rows of appended nodes. They may refer to each other only in plan order.
func (s *State) appendNodes(at time.Time, c *Changes, x Expansion) {
	first := len(s.graph.nodes)
	for i := range x.Nodes {
		row := &Row{NodeID: x.Nodes[i].NodeID, Spec: &x.Nodes[i], Place: len(s.graph.nodes), State: contracts.NodePending}
		if err := s.graph.addStored(row); err != nil {
			c.fail(err)
			return
		}
	}
	for _, n := range s.graph.nodes[first:] {
		c.touch(at, n)
		if n.Spec.Round != nil || n.Spec.AddedBy != "" || n.IsAnswer() {
			s.examine(at, c, n)
		}
	}
}
