package flow

import "slices"

// Kind is the type of a chatflow. Flowise stores it beside flowData, not in it.
type Kind string

// The kinds with a graph.
const (
	Chatflow   Kind = "CHATFLOW"
	Agentflow  Kind = "AGENTFLOW"
	Multiagent Kind = "MULTIAGENT"
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Chatflow, Agentflow, Multiagent} }

// Valid reports whether Flowise accepts k as the type of a graph.
func (k Kind) Valid() bool { return slices.Contains(Kinds(), k) }

// Categories of nodes that determine how a flow runs.
const (
	categoryAgentflow  = "Agent Flows"
	categoryMultiagent = "Multi Agents"
	categorySequential = "Sequential Agents"
	categoryLoader     = "Document Loaders"
	categoryStore      = "Vector Stores"
)

// Names of nodes with a special role.
const (
	nodeStart     = "startAgentflow"
	nodeIteration = "iterationAgentflow"
	nodeCondition = "conditionAgentflow"
	nodeScenario  = "conditionAgentAgentflow"
	nodeHuman     = "humanInputAgentflow"
	nodeAgent     = "agentAgentflow"
	nodeNote      = "stickyNote"
	nodeAgentNote = "stickyNoteAgentflow"
	nodeIfElse    = "ifElseFunction"
	nodeMCP       = "customMCP"
)

// KindOf guesses the kind of a graph from its nodes, for flowData without a type.
func KindOf(g *Graph) Kind {
	kind := Chatflow
	for _, n := range g.Nodes() {
		switch n.Category() {
		case categoryAgentflow:
			return Agentflow
		case categoryMultiagent, categorySequential:
			kind = Multiagent
		}
	}
	return kind
}

func isNote(name string) bool { return name == nodeNote || name == nodeAgentNote }
