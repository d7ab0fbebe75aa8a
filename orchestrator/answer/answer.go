package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/internal/expr"
)

// Compose returns the answer of a run from the results of its nodes: tables as declared in the
// manifests, summaries, and the calls without a result with their reasons. For an open run it has
// the results so far, or is nil if there are none.
func Compose(catalog *contracts.Catalog, view contracts.RunView) *contracts.Answer {
	c := composer{view: view, catalog: catalog, nodes: map[string]*contracts.NodeView{}, shown: map[string]bool{}, again: newest(view.Nodes)}
	for i := range view.Nodes {
		c.nodes[view.Nodes[i].NodeID] = &view.Nodes[i]
	}
	c.worded()
	c.planned()
	c.takenBack()
	c.procedures()
	c.joins()
	c.single()
	c.remainingEffects()
	if len(c.blocks) == 0 {
		if !view.State.Terminal() {
			return nil // no results yet
		}
		c.text(contracts.BlockNote, "There is nothing to show.")
	}
	return &contracts.Answer{Blocks: c.blocks, Verdict: told(view.Verdict)}
}

// told returns the verdict to display, nil for a shadow verdict.
func told(v *contracts.Verdict) *contracts.Verdict {
	if v == nil || v.Shadow {
		return nil
	}
	return v
}

// composer composes one answer block by block from a run view, which it does not change. It is used
// once.
type composer struct {
	view    contracts.RunView
	catalog *contracts.Catalog
	nodes   map[string]*contracts.NodeView
	blocks  []contracts.Block
	// shown are the nodes that must not be displayed again; again are the newest instances of
	// repeated steps.
	shown map[string]bool
	again map[string]*contracts.NodeView
}

func (c *composer) text(kind contracts.BlockKind, text string) {
	c.blocks = append(c.blocks, contracts.Block{Kind: kind, Text: text})
}

// joins displays each join: one table for each capability of its members.
func (c *composer) joins() {
	for i := range c.view.Nodes {
		join := &c.view.Nodes[i]
		if c.shown[join.NodeID] || join.Kind != contracts.KindJoin && join.ForEach == nil {
			continue
		}
		c.shown[join.NodeID] = true
		byTool := map[string][]*contracts.NodeView{}
		var order []string
		for _, id := range join.DependsOn {
			n := c.nodes[id]
			if later := c.again[id]; later != nil {
				n = later
			}
			if n == nil || n.Kind != contracts.KindTool || n.Role == contracts.RolePost || (join.ForEach != nil && n.ForNode != join.NodeID) {
				continue
			}
			c.shown[n.NodeID] = true
			if byTool[n.Tool] == nil {
				order = append(order, n.Tool)
			}
			byTool[n.Tool] = append(byTool[n.Tool], n)
		}
		for _, tool := range order {
			c.results(tool, byTool[tool])
		}
	}
}

// single displays the calls outside of joins, and the steps around all calls.
func (c *composer) single() {
	for i := range c.view.Nodes {
		n := &c.view.Nodes[i]
		if n.Kind == contracts.KindReplan && n.State == contracts.NodeFailed && n.Error != nil {
			c.text(contracts.BlockNote, "It ends here: "+c.why(n))
		}
		if c.shown[n.NodeID] || n.Kind != contracts.KindTool {
			continue
		}
		switch n.Role {
		case contracts.RolePreSearch, contracts.RolePreChoose:
			if n.State == contracts.NodeFailed {
				c.problem(n)
			}
		case contracts.RolePost, contracts.RoleFollowup:
			c.aside(n)
		default:
			c.results(n.Tool, []*contracts.NodeView{n})
		}
	}
}

// results displays the completed calls of one capability as a table, or as their summaries, and
// then the calls without a result.
func (c *composer) results(tool string, members []*contracts.NodeView) {
	var done []*contracts.NodeView
	for _, n := range members {
		if n.State == contracts.NodeCompleted {
			done = append(done, n)
		}
	}
	entry, _ := c.catalog.Capability(tool)
	table := c.table(entry, done)
	if len(done) == 1 || table == nil {
		for _, n := range done {
			c.text(contracts.BlockText, c.withProof(n))
		}
	}
	if table != nil {
		c.blocks = append(c.blocks, *table)
	}
	for _, n := range members {
		if n.State != contracts.NodeCompleted {
			c.problem(n)
		}
	}
}

// withProof adds the result of the read-back to a write's summary. A repeated step has made no call
// itself; its copies have their own.
func (c *composer) withProof(n *contracts.NodeView) string {
	text := cmp.Or(n.Summary, n.Title, n.Tool)
	if !writes(n) || n.ForEach != nil || c.view.Plan.DryRun {
		return text
	}
	holds, checked := true, false
	for _, check := range n.Checks {
		checked = checked || check.Name == "read_back"
		holds = holds && check.OK
	}
	switch {
	case checked && holds:
		return text + " (verified: read back and as asked)"
	case checked:
		return text + " (not as asked when read back)"
	default:
		return text + " (not verified: it could not be read back)"
	}
}

// problem displays why a call has no result.
func (c *composer) problem(n *contracts.NodeView) {
	if !n.State.Terminal() {
		return // still open; its interrupt is displayed with the answer
	}
	title := cmp.Or(n.Title, n.Tool)
	reason := string(n.State)
	if n.Error != nil {
		reason = c.why(n)
	}
	if n.State == contracts.NodeSkipped && n.Error == nil {
		reason = c.whySkipped(n)
		if c.unwanted(n) {
			c.text(contracts.BlockNote, "Not done: "+title+" – "+reason)
			return
		}
	}
	if n.State == contracts.NodeRejected { // a decision, not an error
		c.text(contracts.BlockNote, "Not done: "+gateview.ActionWords(n.Tool)+" – "+reason+".")
		return
	}
	block := contracts.Block{Kind: contracts.BlockError, Text: title + ": " + reason}
	said := func(b contracts.Block) bool { return b.Kind == block.Kind && b.Text == block.Text }
	if !slices.ContainsFunc(c.blocks, said) { // the calls of a list may all fail for one reason
		c.blocks = append(c.blocks, block)
	}
}

// why returns the error of a call for people.
func (c *composer) why(n *contracts.NodeView) string {
	if n.Error.Message != contracts.Unreachable {
		return n.Error.Message
	}
	domain, _, _ := strings.Cut(n.Tool, ".")
	return CannotReach(c.catalog, domain)
}

// CannotReach returns the message that a domain is down, with its title.
func CannotReach(catalog *contracts.Catalog, domain string) string {
	title := domain
	if d, ok := catalog.Domain(domain); ok && d.Manifest != nil {
		title = cmp.Or(d.Manifest.Title, domain)
	}
	return title + " " + contracts.Unreachable
}

// unwanted reports whether a node was skipped although no node before it failed.
func (c *composer) unwanted(n *contracts.NodeView) bool {
	if n.State != contracts.NodeSkipped || n.Error != nil || n.Merge == contracts.MergeAllCompleted {
		return false
	}
	return !slices.ContainsFunc(n.DependsOn, func(dep string) bool {
		d := c.nodes[dep]
		return d != nil && d.State != contracts.NodeCompleted && !c.unwanted(d)
	})
}

// whySkipped names the dependency that did not complete.
func (c *composer) whySkipped(n *contracts.NodeView) string {
	for _, dep := range n.DependsOn {
		if d := c.nodes[dep]; d != nil && d.State != contracts.NodeCompleted {
			if d.Error != nil {
				return "not done: " + c.why(d)
			}
			return fmt.Sprintf("not done: %s was %s", cmp.Or(d.Title, d.NodeID), d.State)
		}
	}
	return cmp.Or(n.Summary, "not needed")
}

// aside displays a step around a call: its summary, or its error.
func (c *composer) aside(n *contracts.NodeView) {
	switch n.State {
	case contracts.NodeCompleted:
		c.text(contracts.BlockNote, c.withProof(n))
	case contracts.NodeFailed, contracts.NodeRejected:
		c.problem(n)
	default:
	}
}

// table builds the rows from the facts, with the manifest's columns or, without these, the scalar
// facts in the order of the output schema. It returns nil without rows.
func (c *composer) table(entry *contracts.CapabilityEntry, done []*contracts.NodeView) *contracts.Block {
	if len(done) == 0 {
		return nil
	}
	present := presentation(entry, done)
	if len(present.Columns) == 0 {
		return nil
	}
	block := contracts.Block{Kind: contracts.BlockTable, Title: present.Title}
	for _, col := range present.Columns {
		block.Columns = append(block.Columns, contracts.Column{Title: cmp.Or(col.Title, col.Path), Unit: col.Unit})
	}
	for _, n := range done {
		for _, row := range rowsOf(present.Rows, n.Facts) {
			block.Rows = append(block.Rows, cells(present.Columns, row))
		}
	}
	if len(block.Rows) == 0 {
		return nil
	}
	return &block
}

func presentation(entry *contracts.CapabilityEntry, done []*contracts.NodeView) contracts.Present {
	if entry != nil && entry.Capability.Metadata.Present != nil {
		p := *entry.Capability.Metadata.Present
		if len(p.Columns) > 0 {
			return p
		}
		p.Columns = scalarColumns(entry, done)
		return p
	}
	return contracts.Present{Columns: scalarColumns(entry, done)}
}

func scalarColumns(entry *contracts.CapabilityEntry, done []*contracts.NodeView) []contracts.PresentColumn {
	scalars := map[string]bool{}
	for _, n := range done {
		for name, value := range n.Facts {
			switch value.(type) {
			case map[string]any, []any, nil:
			default:
				scalars[name] = true
			}
		}
	}
	var columns []contracts.PresentColumn
	add := func(name string) {
		if scalars[name] {
			columns = append(columns, contracts.PresentColumn{Path: name, Title: strings.ReplaceAll(name, "_", " ")})
			delete(scalars, name)
		}
	}
	if entry != nil {
		for _, name := range propertyOrder(entry.Capability.OutputSchema) {
			add(name)
		}
	}
	rest := make([]string, 0, len(scalars))
	for name := range scalars {
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range rest {
		add(name)
	}
	return columns
}

// propertyOrder returns the properties of a schema in the order of the document.
func propertyOrder(schema json.RawMessage) []string {
	var top struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &top) != nil || len(top.Properties) == 0 {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(top.Properties)))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		var skipped json.RawMessage
		if err != nil || dec.Decode(&skipped) != nil {
			return names
		}
		if text, ok := name.(string); ok {
			names = append(names, text)
		}
	}
	return names
}

// rowsOf returns the rows of one result: the list at a path in the facts, or the facts themselves.
func rowsOf(path string, facts map[string]any) []map[string]any {
	if path == "" {
		return []map[string]any{facts}
	}
	value, found, err := expr.Lookup(expr.Scope{"facts": any(facts)}, "facts."+strings.TrimPrefix(path, "facts."))
	list, ok := value.([]any)
	if err != nil || !found || !ok {
		return nil
	}
	rows := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if row, ok := item.(map[string]any); ok {
			rows = append(rows, row)
		} else {
			rows = append(rows, map[string]any{"value": item})
		}
	}
	return rows
}

func cells(columns []contracts.PresentColumn, row map[string]any) []any {
	out := make([]any, len(columns))
	for i, col := range columns {
		value, found, err := expr.Lookup(expr.Scope{"facts": any(row)}, "facts."+strings.TrimPrefix(col.Path, "facts."))
		if err == nil && found {
			out[i] = value
		}
	}
	return out
}
