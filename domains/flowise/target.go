package flowise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Target is what somebody calls a chatflow.
type Target struct {
	Query    string `json:"query,omitempty" max:"200" description:"Name of the chatflow, or words of it; nothing lists the last changed"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT,ASSISTANT" description:"Only flows of this type"`
	OfferNew bool   `json:"offer_new,omitempty" description:"Offer to create a new chatflow too"`
}

// Match is a chatflow to choose.
type Match struct {
	Value     string `json:"value"`
	Label     string `json:"label"`
	Name      string `json:"name"`
	UpdatedAt string `json:"updated_at"`
	// Exact says that the name is the one that was asked for.
	Exact bool `json:"exact"`
}

// Matches are the chatflows that fit, the best first.
type Matches struct {
	Matches []Match `json:"matches"`
	// Cut says that the server has more flows than were looked at.
	Cut bool `json:"cut,omitempty"`
}

// Summary says how many there are.
func (m Matches) Summary() string {
	if len(m.Matches) == 1 {
		return "found " + m.Matches[0].Label + cutNote(m.Cut)
	}
	return count(len(m.Matches), "chatflow") + " to choose from" + cutNote(m.Cut)
}

// maxMatches is how many a person can choose from.
const maxMatches = 10

// newFlow is the value of the choice to create a new chatflow.
const newFlow = "new"

func (d *domain) resolveTarget(ctx context.Context, call domainkit.Call, in Target) (Matches, error) {
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return Matches{}, failure(err)
	}
	all, cut, err := allFlows(ctx, client, in.Type)
	if err != nil {
		return Matches{}, err
	}
	if strings.TrimSpace(in.Query) != "" {
		all = ranked(all, in.Query)
		if same := exactly(all, in.Query); len(same) > 0 {
			all = same
		}
	}
	out := Matches{Cut: cut}
	for _, f := range all[:min(maxMatches, len(all))] {
		when := f.UpdatedDate.UTC().Format("2006-01-02 15:04")
		out.Matches = append(out.Matches, Match{
			Value: f.ID, Label: fmt.Sprintf("%s (%s, changed %s)", clip(f.Name, 80), f.Type, when), Name: nameOf(f.Name),
			UpdatedAt: when, Exact: sameName(f.Name, in.Query),
		})
	}
	if in.OfferNew {
		out.Matches = append(out.Matches, Match{Value: newFlow, Label: "create a new chatflow"})
	}
	return out, nil
}

// exactly gives the flows that have just this name or id: letter by letter, or,
// where there is none, without accents and signs.
func exactly(flows []api.Flow, query string) []api.Flow {
	query = strings.TrimSpace(query)
	for _, is := range []func(api.Flow) bool{
		func(f api.Flow) bool { return letters(f.Name) == letters(query) || strings.EqualFold(f.ID, query) },
		func(f api.Flow) bool { return sameName(f.Name, query) },
	} {
		if out := slices.DeleteFunc(slices.Clone(flows), func(f api.Flow) bool { return !is(f) }); len(out) > 0 {
			return out
		}
	}
	return nil
}

// letters is a name as it is written, in any case and spacing.
func letters(name string) string {
	return norm.NFC.String(strings.ToLower(strings.Join(strings.Fields(name), " ")))
}

// sameName tells whether two names differ only by case, accents and signs. Names
// without a letter or digit are the same only as they are written.
func sameName(a, b string) bool {
	if p := plain(a); p != "" {
		return p == plain(b)
	}
	return letters(a) == letters(b)
}

// ranked gives the flows that a query may mean: by likeness of the name, then
// by the last change.
func ranked(flows []api.Flow, query string) []api.Flow {
	type scored struct {
		flow  api.Flow
		score int
	}
	var found []scored
	for _, f := range flows {
		if s := likeness(f, query); s > 0 {
			found = append(found, scored{f, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.flow.UpdatedDate.Compare(a.flow.UpdatedDate))
	})
	out := make([]api.Flow, len(found))
	for i, f := range found {
		out[i] = f.flow
	}
	return out
}

// likeness scores a name: 1000 is the same, 0 has nothing in common.
func likeness(f api.Flow, query string) int {
	name, want := plain(f.Name), plain(query)
	switch {
	case strings.EqualFold(f.ID, strings.TrimSpace(query)), sameName(f.Name, query):
		return 1000
	case want == "" && strings.Contains(letters(f.Name), letters(query)):
		return 700
	case want == "":
		return 0
	case strings.HasPrefix(name, want):
		return 800
	case strings.Contains(name, want), name != "" && strings.Contains(want, name):
		return 700
	}
	words, hits := strings.Fields(want), 0
	for _, w := range words {
		if slices.ContainsFunc(strings.Fields(name), func(n string) bool { return similar(w, n) }) {
			hits++
		}
	}
	if score := 600 * hits / len(words); score > 0 {
		return score
	}
	if similar(strings.ReplaceAll(want, " ", ""), strings.ReplaceAll(name, " ", "")) {
		return 300
	}
	return 0
}

// similar tells whether two words differ by little: a prefix, or one wrong
// letter in four.
func similar(a, b string) bool {
	if len(a) >= 3 && strings.HasPrefix(b, a) {
		return true
	}
	return distance(a, b) <= min(len(a), len(b))/4
}

// distance is how many letters must be changed, added or dropped.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before := make([]int, len(y)+1)
	for j := range before {
		before[j] = j
	}
	for i := range x {
		now := make([]int, len(y)+1)
		now[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			now[j+1] = min(before[j+1]+1, now[j]+1, before[j]+cost)
		}
		before = now
	}
	return before[len(y)]
}

// plain is a name without case, accents and signs.
func plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r):
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Digest is a flow in few words; it is the same for the same bytes.
type Digest struct {
	ChatflowID string             `json:"chatflow_id,omitempty"`
	Name       string             `json:"name,omitempty"`
	Type       string             `json:"type"`
	SHA256     string             `json:"sha256"`
	NodeCount  int                `json:"node_count"`
	EdgeCount  int                `json:"edge_count"`
	NodeTypes  map[string]int     `json:"node_types"`
	ToolNodes  []string           `json:"tool_nodes"`
	Nodes      []flow.NodeSummary `json:"nodes"`
	Edges      []string           `json:"edges"`
	// Fingerprint is that of the node definitions that the flow is seen by.
	Fingerprint string `json:"schema_fingerprint"`
	Omitted     int    `json:"omitted_nodes,omitempty"`
}

// Summary says what the flow is made of.
func (d Digest) Summary() string {
	return fmt.Sprintf("%s: %s with %s and %s", cmp.Or(clip(d.Name, 80), "flow"), d.Type, count(d.NodeCount, "node"), count(d.EdgeCount, "connection"))
}

// maxDigest leaves room in the facts for the rest of them.
const maxDigest = contracts.MaxFactsBytes - 2048

// digest describes a graph, with less of each node the more there are.
func digest(g *flow.Graph, kind flow.Kind, defs *knowledge.Snapshot) Digest {
	s := flow.Summarize(g, kind, defs)
	out := Digest{
		Type: string(s.Kind), SHA256: g.SHA256(), NodeCount: len(g.Nodes()), EdgeCount: len(g.Edges()), NodeTypes: commonest(histogram(g)),
		Nodes: s.Nodes, Edges: s.Edges, Omitted: s.Omitted, Fingerprint: defs.Fingerprint(),
	}
	for _, n := range g.Nodes() {
		if strings.HasPrefix(n.Category(), "Tools") {
			out.ToolNodes = append(out.ToolNodes, n.ID())
		}
	}
	out.ToolNodes = within(out.ToolNodes, shareTools)
	for _, most := range []int{6, 3, 0} {
		if size(out) <= maxDigest {
			return out
		}
		for i := range out.Nodes {
			out.Nodes[i].Params = out.Nodes[i].Params[:min(most, len(out.Nodes[i].Params))]
		}
	}
	for size(out) > maxDigest && len(out.Nodes)+len(out.Edges) > 0 {
		out.Omitted += len(out.Nodes) - len(out.Nodes)/2
		out.Nodes, out.Edges = out.Nodes[:len(out.Nodes)/2], out.Edges[:len(out.Edges)/2]
	}
	return out
}

// artifactFlow is the name of the artifact that holds a graph: a JSON string,
// so that its bytes stay as they are.
const artifactFlow = "flow_data"

// loadFlow reads a flow once, whole, for all later steps.
func (d *domain) loadFlow(ctx context.Context, call domainkit.Call, in FlowRef) (domainkit.Result[Digest], error) {
	f, g, err := d.graphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return domainkit.Result[Digest]{}, err
	}
	defs, err := d.definitions(ctx, call.Instance)
	if err != nil {
		return domainkit.Result[Digest]{}, err
	}
	out := digest(g, kindOf(f.Type), defs)
	out.ChatflowID, out.Name = f.ID, nameOf(f.Name)
	return domainkit.Result[Digest]{Facts: out, Artifacts: map[string]any{artifactFlow: f.FlowData}}, nil
}

// unreadable says that a saved graph is none.
func unreadable(err error) error {
	refusal := domainkit.Refusef(contracts.ErrPrecondition, "the flowData cannot be read")
	if e, ours := errors.AsType[*contracts.Error](err); ours {
		refusal.Message += ": " + e.Message
		refusal.Detail = map[string]any{"faults": e.Faults}
	}
	return refusal
}

// kindOf gives the type of a flow as a kind of graph; an assistant has a graph
// of no kind of its own.
func kindOf(t api.FlowType) flow.Kind {
	kind := flow.Kind(t)
	if !kind.Valid() {
		return ""
	}
	return kind
}

// Graph is flowData to look at.
type Graph struct {
	FlowData string `json:"flow_data" description:"The graph of a flow, as JSON text"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT" description:"Type of the flow; guessed from its nodes unless given"`
}

// summarizeFlow describes a graph that was loaded or compiled.
func (d *domain) summarizeFlow(ctx context.Context, call domainkit.Call, in Graph) (Digest, error) {
	g, err := flow.Decompile([]byte(in.FlowData))
	if err != nil {
		return Digest{}, unreadable(err)
	}
	defs, err := d.definitions(ctx, call.Instance)
	if err != nil {
		return Digest{}, err
	}
	return digest(g, flow.Kind(in.Type), defs), nil
}
