package audit

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/manifold-run/manifold/contracts"
)

// logPage is how many leaves or hashes are read at once.
const logPage = 1000

// verifyLog computes the tree of the log from its leaves, and compares it with the stored hashes,
// the last root and the outside roots, and each leaf with its chain.
func (v *Verifier) verifyLog(ctx context.Context, report *contracts.AuditReport) error {
	tree := &logCheck{audit: v, report: report, newest: map[string]Leaf{}, heads: map[int64][]Head{}}
	// A root is stored before it is published. In this order a root that is added meanwhile is not
	// reported as missing from the log.
	outside := tree.outside(ctx)
	last, err := v.proofs.LastRoot(ctx)
	if err != nil {
		return err
	}
	tree.expect(last, outside)
	for tree.size < last.Size {
		leaves, err := v.proofs.Leaves(ctx, tree.size, int(min(logPage, last.Size-tree.size)))
		if err != nil {
			return err
		}
		if len(leaves) == 0 {
			tree.say("%d leaves are missing from place %d on", last.Size-tree.size, tree.size)
			return nil
		}
		if err := tree.take(ctx, leaves); err != nil {
			return err
		}
	}
	report.Leaves = tree.size
	return tree.scopes(ctx)
}

// logCheck is the state of a log verification.
type logCheck struct {
	span

	audit  *Verifier
	report *contracts.AuditReport
	// newest is the last leaf of each scope; heads are the roots by their size.
	newest map[string]Leaf
	heads  map[int64][]Head
}

func (c *logCheck) say(format string, args ...any) {
	c.report.Found("log", fmt.Sprintf(format, args...))
}

// outside returns the published roots.
func (c *logCheck) outside(ctx context.Context) []Head {
	if c.audit.publisher == nil {
		return nil
	}
	heads, err := c.audit.publisher.heads(ctx)
	if err != nil {
		c.say("the copy outside: %v", err)
	}
	return heads
}

// expect records the stored root and the outside roots for comparison.
func (c *logCheck) expect(last Root, heads []Head) {
	if c.audit.publisher == nil {
		return
	}
	if last.Size > 0 {
		head, err := OpenRoot(last.Note, c.audit.publisher.cfg.Known)
		if err != nil || head.Size != last.Size {
			c.say("the stored root of %d leaves: %v", last.Size, err)
		}
		heads = append(heads, head)
	}
	for _, h := range heads {
		if h.Size > last.Size {
			c.say("a root of %d leaves was published, and the log has %d", h.Size, last.Size)
		}
		c.heads[h.Size] = append(c.heads[h.Size], h)
	}
}

func (c *logCheck) take(ctx context.Context, leaves []Leaf) error {
	var made []tlog.Hash
	first := tlog.StoredHashCount(c.size)
	for _, l := range leaves {
		record, err := contracts.Canonical(l)
		if err != nil {
			return err
		}
		made = append(made, c.add(record)...)
		c.newest[l.Scope] = l
		for _, h := range c.heads[c.size] {
			if h.Hash != c.root() {
				c.say("the first %d leaves are not those whose root was signed", c.size)
			}
		}
	}
	stored, err := c.audit.proofs.Hashes(ctx, first, len(made))
	if err != nil {
		return err
	}
	for i := range made {
		if i >= len(stored) || !bytes.Equal(stored[i], made[i][:]) {
			c.say("the hash at %d is not the one of the leaves", first+int64(i))
			break
		}
	}
	return nil
}

// scopes compares the last leaf of each scope with the stored state.
func (c *logCheck) scopes(ctx context.Context) error {
	for scope, leaf := range c.newest {
		version, err := c.audit.proofs.SealVersion(ctx, scope)
		if err != nil {
			return err
		}
		if version < leaf.Version {
			c.report.Found(scope, fmt.Sprintf("the log knows version %d, and what is stored is version %d: it is gone, or older", leaf.Version, version))
		}
		if leaf.Seq == 0 {
			continue
		}
		entries, err := c.audit.store.Ledger(ctx, leaf.Chain, leaf.Seq-1, 1)
		if err != nil {
			return err
		}
		if len(entries) == 0 || entries[0].Seq != leaf.Seq || entries[0].Hash != leaf.Head {
			c.report.Found(leaf.Chain, "ledger entry "+strconv.FormatInt(leaf.Seq, 10)+", which the log knows of, is not there or another one")
		}
	}
	return nil
}
