package runstate

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Changes is what events change in the stored state; it goes into one commit. The zero value is
// empty.
type Changes struct {
	// Since is when the first change was made.
	Since time.Time
	// Touched are the nodes whose rows must be written, each once.
	Touched []*Node
	Gates   []contracts.Interrupt // opened
	Intents []Intent              // announced
	Consume []string              // nonces of settled intents
	Events  []contracts.Event
	Entries []Entry // of the ledger, not sealed yet
	Blobs   []Blob
	Data    []NodeData
	Release []string // nodes that neither hold nor want locks any more

	// fault is the first error; nothing may be committed after it.
	fault error
}

// Entry is an entry of the ledger before it is sealed, with its payload in canonical form.
type Entry struct {
	contracts.LedgerEntry

	Payload []byte
}

// Blob is content that is stored once by its SHA-256.
type Blob struct {
	SHA256 string
	Kind   string
	RunID  string
	Body   []byte
}

// BlobArtifact is the kind of blobs that are artifacts of nodes. Older stores have payloads as
// blobs of the kind "ledger".
const BlobArtifact = "artifact"

// NodeData is raw output kept for debugging until it expires.
type NodeData struct {
	RunID     string
	NodeID    string
	Body      []byte
	ExpiresAt time.Time
}

// Empty reports whether there is nothing to commit.
func (c *Changes) Empty() bool { return c.Since.IsZero() }

// Rows returns the rows of the touched nodes, in plan order.
func (c *Changes) Rows() []Row {
	slices.SortFunc(c.Touched, func(a, b *Node) int { return a.index - b.index })
	rows := make([]Row, len(c.Touched))
	for i, n := range c.Touched {
		rows[i] = *n.Row
	}
	return rows
}

// Done clears the changes after they were committed.
func (c *Changes) Done() {
	for _, n := range c.Touched {
		n.touched = false
	}
	*c = Changes{Touched: c.Touched[:0]}
}

// Drop removes the announcements of writes that must not be made, and returns their nodes.
func (c *Changes) Drop() []string {
	var nodes []string
	for _, i := range c.Intents {
		nodes = append(nodes, i.NodeID)
	}
	c.Intents = nil
	c.Entries = slices.DeleteFunc(c.Entries, func(e Entry) bool {
		return e.Kind == contracts.LedgerIntent && slices.Contains(nodes, e.NodeID)
	})
	return nodes
}

func (c *Changes) mark(at time.Time) {
	if c.Since.IsZero() {
		c.Since = at
	}
}

func (c *Changes) touch(at time.Time, n *Node) {
	c.mark(at)
	if !n.touched {
		n.touched = true
		c.Touched = append(c.Touched, n)
	}
}

// record adds an entry to the ledger.
func (c *Changes) record(at time.Time, e contracts.LedgerEntry, payload any) {
	c.mark(at)
	e.At = at.UTC().Truncate(time.Millisecond)
	entry := Entry{LedgerEntry: e}
	if payload != nil {
		body, err := contracts.Canonical(payload)
		if err != nil {
			c.fail(err)
		}
		entry.PayloadSHA256, entry.Payload = contracts.HashBytes(body), body
	}
	c.Entries = append(c.Entries, entry)
}

func (c *Changes) fail(err error) {
	if c.fault == nil {
		c.fault = err
	}
}

// PlanEntry returns the first entry of a ledger.
func PlanEntry(plan contracts.Plan, at time.Time) (Entry, error) {
	var c Changes
	c.record(at, contracts.LedgerEntry{Kind: contracts.LedgerPlan, Actor: plan.Owner.ID, ActionSHA256: plan.PlanHash}, plan)
	return c.Entries[0], c.fault
}

// Chain is the end of the ledger of a run. Only the lease holder appends.
type Chain struct {
	RunID string
	// Salt returns a new salt of SaltSize bytes; nil for runs before Format3, which have none.
	Salt func() []byte
	Seq  int64
	Head string
}

// Seal links entries to the end of the chain. It returns them, the payload of each (nil if it has
// none) and the new end. Each payload begins with its own salt.
func (c Chain) Seal(entries []Entry) ([]contracts.LedgerEntry, [][]byte, Chain, error) {
	sealed, payloads := make([]contracts.LedgerEntry, len(entries)), make([][]byte, len(entries))
	for i, e := range entries {
		if c.Salt != nil {
			e.salt(c.Salt())
		}
		link := e.LedgerEntry
		link.RunID, link.Seq = c.RunID, c.Seq+1
		if err := link.Seal(c.Head); err != nil {
			return nil, nil, c, err
		}
		c.Seq, c.Head, sealed[i] = link.Seq, link.Hash, link
		payloads[i] = e.Payload
	}
	return sealed, payloads, c, nil
}
