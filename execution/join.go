package execution

import (
	"fmt"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// join ends a join: it fails only if every member did not complete.
func (l *loop) join(n *node) {
	l.begun(n)
	members := joinMembers(n.v, func(id string) *vertex { return l.graph.byID[id] })
	completed := 0
	for _, m := range members {
		if m.state == contracts.NodeCompleted {
			completed++
		}
	}
	n.rec.Result = &Result{Summary: fmt.Sprintf("%d of %d", completed, len(members))}
	if completed == 0 && len(members) > 0 {
		n.rec.Error = &contracts.ToolError{Type: contracts.ErrUpstream, Message: fmt.Sprintf("none of %d succeeded", len(members))}
		l.end(n, contracts.NodeFailed)
		return
	}
	l.end(n, contracts.NodeCompleted)
}

// joinMembers are the calls that a join brings together, without the steps
// around them.
func joinMembers(v *vertex, byID func(string) *vertex) []*vertex {
	var members []*vertex
	for _, id := range v.spec.DependsOn {
		if m := byID(id); m != nil && (m.spec.Role == "" || m.spec.Role == contracts.RoleFollowup) {
			if v.expanded && m.spec.Of != v.spec.NodeID {
				continue
			}
			members = append(members, m)
		}
	}
	return members
}

// joinFacts is a join's bundle in plan order, with what is missing and what
// failed named. It is made when it is read, not stored.
func joinFacts(g *graph, v *vertex, record func(string) NodeRecord) map[string]any {
	items, missing, failed := []any{}, []any{}, []any{}
	for _, m := range joinMembers(v, func(id string) *vertex { return g.byID[id] }) {
		id, rec := m.spec.NodeID, record(m.spec.NodeID)
		switch m.state {
		case contracts.NodeCompleted:
		case contracts.NodeFailed:
			failed = append(failed, id)
		default:
			missing = append(missing, id)
		}
		item := map[string]any{"node_id": id, "ok": m.state == contracts.NodeCompleted, "facts": map[string]any{}, "summary": ""}
		if rec.Result != nil {
			item["summary"], item["facts"] = rec.Result.Summary, orEmpty(rec.Result.Facts)
		}
		if rec.Error != nil {
			item["summary"] = rec.Error.Message
		}
		items = append(items, item)
	}
	return map[string]any{"items": items, "missing": missing, "failed": failed}
}

// expand appends one copy of a for_each node for every item of its list, by a
// ledgered record: the plan itself never changes.
func (l *loop) expand(n *node) {
	items, err := l.items(n)
	if err != nil {
		l.fail(n, contracts.ErrInvalidParameters, err.Error(), contracts.EffectNone)
		return
	}
	limit := l.stored.Plan.Budgets.MaxNodes
	if limit <= 0 || limit > contracts.MaxNodes {
		limit = contracts.MaxNodes
	}
	if len(l.graph.nodes)+len(items) > limit {
		l.fail(n, contracts.ErrBudget, fmt.Sprintf("%d items would make more than %d nodes", len(items), limit), contracts.EffectNone)
		return
	}
	copies := make([]contracts.Node, len(items))
	for i, item := range items {
		copies[i] = l.copyOf(n, i, item)
	}
	if err := l.insert(n, copies); err != nil {
		l.fail(n, contracts.ErrInternal, err.Error(), contracts.EffectNone)
	}
}

func (l *loop) insert(n *node, copies []contracts.Node) error {
	if err := l.graph.add(copies...); err != nil {
		return err
	}
	l.begun(n)
	l.record(n, contracts.LedgerEntry{Kind: contracts.LedgerExpand}, map[string]any{"of": n.rec.NodeID, "nodes": copies})
	l.emitFor(n, contracts.Event{Type: contracts.EventExpand, Summary: strconv.Itoa(len(copies)) + " steps were added"})
	for i := range copies {
		c := &node{v: l.graph.byID[copies[i].NodeID], rec: NodeRecord{NodeID: copies[i].NodeID, Spec: &copies[i], State: contracts.NodePending}}
		l.nodes[copies[i].NodeID] = c
		l.touch(c)
	}
	if err := l.graph.expand(n.v, copies); err != nil {
		return err
	}
	n.rec.State = contracts.NodePending
	l.touch(n)
	for _, v := range l.graph.sweep() {
		l.skipped(v)
	}
	return nil
}

func (l *loop) items(n *node) ([]any, error) {
	refs, err := expr.Refs(n.v.spec.ForEach.Items)
	if err != nil {
		return nil, err
	}
	value, _, err := expr.Resolve(n.v.spec.ForEach.Items, l.scope(n, refs))
	if err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%s is no list", n.v.spec.ForEach.Items)
	}
	return list, nil
}

func (l *loop) copyOf(n *node, i int, item any) contracts.Node {
	c := n.v.spec
	c.NodeID = fmt.Sprintf("%s[%d]", n.rec.NodeID, i)
	c.ForEach, c.Of, c.Item, c.Required = nil, n.rec.NodeID, item, writes(n)
	c.BranchID, c.Group, c.GroupLimit = c.NodeID, n.rec.NodeID, n.v.spec.ForEach.MaxConcurrency
	c.Role, c.When = "", nil
	return c
}
