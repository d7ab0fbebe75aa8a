package flowise

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Refreshing selects what to read again from a server: nodes, templates or credentials.
type Refreshing = site.Refreshing

// Refreshed is a server's answer in the form in which it is stored.
type Refreshed = site.Refreshed

// Refresh reads the current data of a server and stores it. The same answers give the same bytes.
func Refresh(ctx context.Context, cfg Config, r Refreshing) (Refreshed, error) {
	s, err := cfg.site()
	if err != nil {
		return Refreshed{}, fmt.Errorf("flowise domain: %w", err)
	}
	return s.Refresh(ctx, r)
}

// ValidateSnapshot validates the stored data without calling a server. Missing data is valid.
func ValidateSnapshot(ctx context.Context, cfg Config, r Refreshing) error {
	s, err := cfg.site()
	if err != nil {
		return fmt.Errorf("flowise domain: %w", err)
	}
	return s.ValidateSnapshot(ctx, r)
}
