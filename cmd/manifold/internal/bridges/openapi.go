package bridges

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/openapi"
)

// OpenAPI opens an API by its document. The credential is "SCHEME=env:NAME".
func OpenAPI(args []string, base, auth string) (Open, error) {
	if len(args) != 1 {
		return nil, errors.New("name one OpenAPI document, a file or a URL")
	}
	return func(o Options, overlay bridge.Overlay, _ func()) (bridge.Source, error) {
		reach, err := o.HTTP()
		if err != nil {
			return nil, err
		}
		cfg := openapi.Config{Document: args[0], Base: base, Remote: overlay.Remote, HTTP: reach}
		if auth != "" {
			scheme, variable, ok := strings.Cut(auth, "=env:")
			if cfg.Scheme, cfg.Secret = scheme, o.Getenv(variable); !ok || cfg.Secret == "" {
				return nil, fmt.Errorf("--auth must be SCHEME=env:NAME, and the variable must be set")
			}
		}
		return openapi.New(context.Background(), cfg)
	}, nil
}
