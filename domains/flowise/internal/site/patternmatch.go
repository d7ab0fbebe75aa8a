package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Categories of patterns.
const (
	RAG            = "rag"
	ToolAgent      = "tool_agent"
	Agentflow      = "agentflow"
	Conversational = "conversational"
	Custom         = "custom"
)

// PatternCategory infers the purpose of a flow from its kinds of nodes; the first matching rule
// decides.
func PatternCategory(nodeTypes []string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(nodeTypes, func(name string) bool {
			return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(strings.ToLower(name), p) })
		})
	}
	switch {
	case has("vectorstore", "retriev", "pinecone", "faiss", "chroma", "qdrant"):
		return RAG
	case has("toolagent", "agentagentflow", "reactagent", "openaifunctionagent"):
		return ToolAgent
	case has("agentflow"):
		return Agentflow
	case has("conversationchain", "llmchain", "chat"):
		return Conversational
	default:
		return Custom
	}
}

// PatternFingerprint returns a hash of the definitions of these kinds of nodes, so that changes to
// others are ignored.
func PatternFingerprint(defs *knowledge.Snapshot, nodeTypes []string) (string, error) {
	hashes := map[string]string{}
	for _, name := range nodeTypes {
		hashes[name] = ""
		if def, known := defs.Node(name); known {
			hashes[name] = def.Hash
		}
	}
	sum, err := contracts.Hash(hashes)
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", strings.Join(nodeTypes, ", "), err)
	}
	return sum, nil
}

// PatternScore returns how many words of a query occur in a text.
func PatternScore(query, text string) int {
	text = strings.ToLower(text)
	score := 0
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if strings.Contains(text, strings.Trim(word, `.,;:!?"'`)) {
			score++
		}
	}
	return score
}
