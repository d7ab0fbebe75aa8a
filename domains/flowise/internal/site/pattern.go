package site

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// PatternFacts describes a pattern without its graph.
type PatternFacts struct {
	PatternID   int64    `json:"pattern_id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Type        string   `json:"type"`
	NodeTypes   []string `json:"node_types"`
	SHA256      string   `json:"sha256"`
	// Uses counts the chatflows that were created from it by its id.
	Uses       int    `json:"uses"`
	LastUsedAt string `json:"last_used_at,omitempty"`
	// Compatible means that the definitions of its nodes are unchanged.
	Compatible bool `json:"compatible"`
}

// Summary describes the pattern.
func (p PatternFacts) Summary() string {
	return fmt.Sprintf("pattern %d: %s (%s, %s)", p.PatternID, present.Clip(p.Name, 80), p.Category, p.Type)
}

// SavedPattern returns the facts of a stored pattern.
func SavedPattern(p store.Pattern) PatternFacts {
	out := PatternFacts{
		PatternID: p.ID, Name: p.Name, Description: p.Description, Category: p.Category, Type: p.Kind,
		NodeTypes: p.NodeTypes[:min(20, len(p.NodeTypes))], SHA256: p.SHA256, Uses: p.Uses, Compatible: true,
	}
	if !p.LastUsedAt.IsZero() {
		out.LastUsedAt = p.LastUsedAt.Format(time.RFC3339)
	}
	return out
}

// PatternFingerprint returns the fingerprint of the current definitions of some kinds of nodes.
func (s *Site) PatternFingerprint(ctx context.Context, instance string, types []string) (string, error) {
	defs, err := s.Definitions(ctx, instance)
	if err != nil {
		return "", err
	}
	return PatternFingerprint(defs, types)
}

// PatternRef identifies a pattern.
type PatternRef struct {
	PatternID int64 `json:"pattern_id" min:"1" description:"Which pattern"`
}

// Usable returns a pattern. Unless anySchema is set, it refuses one whose node definitions have
// changed.
func (s *Site) Usable(ctx context.Context, call domainkit.Call, id int64, anySchema bool) (store.Pattern, error) {
	p, err := s.Data.Pattern(ctx, id)
	if err != nil {
		return store.Pattern{}, Failure(err)
	}
	now, err := s.PatternFingerprint(ctx, call.Instance, p.NodeTypes)
	if err != nil {
		return store.Pattern{}, err
	}
	if now != p.Fingerprint && !anySchema {
		return store.Pattern{}, domainkit.Refusef(contracts.ErrPrecondition, "the definitions of the nodes of pattern %d have changed since it was saved", id)
	}
	return p, nil
}
