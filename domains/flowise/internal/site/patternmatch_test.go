package site_test

import (
	"encoding/json"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

func TestTheCategoryIsInferredFromTheNodes(t *testing.T) {
	t.Parallel()
	for want, nodes := range map[string][]string{
		site.RAG:            {"toolAgent", "memoryVectorStore", "chatOpenAI"},
		site.ToolAgent:      {"toolAgent", "chatOpenAI", "calculator"},
		site.Agentflow:      {"startAgentflow", "directReplyAgentflow"},
		site.Conversational: {"conversationChain", "chatOpenAI"},
		site.Custom:         {"customFunction"},
	} {
		if got := site.PatternCategory(nodes); got != want {
			t.Errorf("%v: %s, want %s", nodes, got, want)
		}
	}
}

func TestTheFingerprintFollowsOnlyTheNodesOfThePattern(t *testing.T) {
	t.Parallel()
	derive := func(versions map[string]string) *knowledge.Snapshot {
		t.Helper()
		var raw []json.RawMessage
		for name, version := range versions {
			raw = append(raw, json.RawMessage(`{"name":"`+name+`","version":`+version+`}`))
		}
		s, err := knowledge.Derive("1", raw)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	fingerprint := func(versions map[string]string) string {
		t.Helper()
		got, err := site.PatternFingerprint(derive(versions), []string{"a"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	base := fingerprint(map[string]string{"a": "1", "b": "1"})
	if fingerprint(map[string]string{"a": "1", "b": "2"}) != base {
		t.Error("another node counts")
	}
	if fingerprint(map[string]string{"a": "2"}) == base || fingerprint(map[string]string{"b": "1"}) == base {
		t.Error("a changed or missing node does not count")
	}
}
