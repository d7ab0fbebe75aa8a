package flowise

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/internal/capability/history"
)

// Watch keeps what people edit in Flowise's own pages as versions, until ctx ends:
// it looks at every server each time that every is over, and reads what changed.
func Watch(ctx context.Context, cfg Config, every time.Duration) error {
	s, err := cfg.site()
	if err != nil {
		return fmt.Errorf("flowise domain: %w", err)
	}
	history.Watch(ctx, s, every)
	return nil
}

// Export writes all flows of a server ("" for the default one) into a folder, one
// readable file for each, and tells their names. The same flows give the same bytes.
func Export(ctx context.Context, cfg Config, instance, folder string) ([]string, error) {
	s, err := cfg.site()
	if err != nil {
		return nil, fmt.Errorf("flowise domain: %w", err)
	}
	return history.ExportAll(ctx, s, instance, folder)
}
