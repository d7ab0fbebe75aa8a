package flowise

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Refreshing describes what to ask a server for again: nodes, templates or
// credentials.
type Refreshing = site.Refreshing

// Refreshed is what a server answered, in the form in which it is kept.
type Refreshed = site.Refreshed

// Refresh asks a server for what it knows now and keeps it. The same answers
// give the same bytes.
func Refresh(ctx context.Context, cfg Config, r Refreshing) (Refreshed, error) {
	s, err := cfg.site()
	if err != nil {
		return Refreshed{}, fmt.Errorf("flowise domain: %w", err)
	}
	return s.Refresh(ctx, r)
}

// ValidateSnapshot checks what is kept, without asking a server. Nothing kept
// is fine.
func ValidateSnapshot(ctx context.Context, cfg Config, r Refreshing) error {
	s, err := cfg.site()
	if err != nil {
		return fmt.Errorf("flowise domain: %w", err)
	}
	return s.ValidateSnapshot(ctx, r)
}
