package site

import (
	"context"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/transfer"
)

// FileOf returns a flow as a portable file: server-specific ids of credentials are replaced by
// names.
func FileOf(ctx context.Context, s *Site, instance string, f api.Flow) (transfer.File, error) {
	out := transfer.File{Name: f.Name, Type: string(f.Type), Variables: transfer.Variables(f.FlowData), Flow: []byte(f.FlowData)}
	if f.Category != nil {
		out.Category = *f.Category
	}
	if !boundCredential.MatchString(f.FlowData) {
		return out, nil
	}
	all, _, err := s.Credentials(ctx, instance)
	if err != nil {
		return out, err
	}
	out.Credentials = map[string]transfer.Credential{}
	for _, c := range all {
		if strings.Contains(f.FlowData, `"`+c.ID+`"`) {
			out.Credentials[c.ID] = transfer.Credential{Name: c.Name, Type: c.Type}
		}
	}
	return out, nil
}
