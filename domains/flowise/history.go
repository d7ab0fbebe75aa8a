package flowise

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/internal/capability/history"
)

// Watch stores edits made in Flowise's own UI as versions, until ctx ends. It polls all servers at
// the given interval and reads the flows that changed.
func Watch(ctx context.Context, cfg Config, every time.Duration) error {
	s, err := cfg.site()
	if err != nil {
		return fmt.Errorf("flowise domain: %w", err)
	}
	history.Watch(ctx, s, every)
	return nil
}

// Export writes all flows of a server ("" for the default one) to a folder, one readable file per
// flow, and returns the file names. The output is deterministic.
func Export(ctx context.Context, cfg Config, instance, folder string) ([]string, error) {
	s, err := cfg.site()
	if err != nil {
		return nil, fmt.Errorf("flowise domain: %w", err)
	}
	return history.ExportAll(ctx, s, instance, folder)
}
