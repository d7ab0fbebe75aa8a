package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/transfer"
)

// Exported describes an exported flow.
type Exported struct {
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	File       string `json:"file"`
	Bytes      int    `json:"bytes"`
	// Credentials and Variables are the names that must exist on the target server.
	Credentials []string `json:"credentials"`
	Variables   []string `json:"variables"`
}

// Summary reports the file and what it needs.
func (e Exported) Summary() string {
	return fmt.Sprintf("%s as %s, %d bytes; it needs %s and %s where it goes", present.Clip(e.Name, 80), e.File, e.Bytes,
		present.Count(len(e.Credentials), "credential"), present.Count(len(e.Variables), "variable"))
}

// export returns a flow as a file for another server or for version control.
func (h *Historian) export(ctx context.Context, call domainkit.Call, in site.FlowRef) (domainkit.Result[Exported], error) {
	none := domainkit.Result[Exported]{}
	f, err := h.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return none, err
	}
	file, raw, err := encoded(ctx, h.site, call.Instance, f)
	if err != nil {
		return none, err
	}
	out := Exported{ChatflowID: f.ID, Name: present.NameOf(f.Name), File: transfer.FileName(f.Name), Bytes: len(raw), Credentials: []string{}, Variables: file.Variables}
	if out.Variables == nil {
		out.Variables = []string{}
	}
	for _, id := range present.SortedKeys(file.Credentials) {
		out.Credentials = append(out.Credentials, file.Credentials[id].Name)
	}
	return domainkit.Result[Exported]{Facts: out, Artifacts: map[string]any{"export": string(raw)}}, nil
}

func encoded(ctx context.Context, s *site.Site, instance string, f api.Flow) (transfer.File, []byte, error) {
	file, err := site.FileOf(ctx, s, instance, f)
	if err != nil {
		return file, nil, err
	}
	raw, err := transfer.Encode(file)
	return file, raw, err
}

// ExportAll writes the flows of a server to a folder, one file per flow, and returns the file
// names. It does not delete files of deleted flows. The output is deterministic. If two flows have
// the same name, the second file name includes the id.
func ExportAll(ctx context.Context, s *site.Site, instance, folder string) ([]string, error) {
	client, err := s.Pool.Client(instance)
	if err != nil {
		return nil, site.Failure(err)
	}
	all, _, err := site.AllFlows(ctx, client, "")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // it is for version control, and holds no secrets
		return nil, fmt.Errorf("make the folder of flows: %w", err)
	}
	var out []string
	taken := map[string]bool{}
	for _, listed := range all {
		f, err := client.GetFlow(ctx, listed.ID)
		if api.IsKind(err, api.KindNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return out, site.Failure(err)
		}
		_, raw, err := encoded(ctx, s, instance, f)
		if err != nil {
			return out, errors.Join(fmt.Errorf("flow %q", f.Name), err)
		}
		name := transfer.FileName(f.Name)
		if taken[name] {
			name = transfer.FileName(f.Name + "-" + f.ID)
		}
		taken[name] = true
		if err := os.WriteFile(filepath.Join(folder, name), raw, 0o644); err != nil { //nolint:gosec // as above
			return out, fmt.Errorf("write %s: %w", name, err)
		}
		out = append(out, name)
	}
	return out, nil
}
