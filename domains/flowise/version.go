package flowise

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// VersionFilter chooses versions.
type VersionFilter struct {
	FlowRef
	Limit int `json:"limit" default:"20" min:"1" max:"60" description:"How many at most"`
}

// VersionRow is one version of a flow.
type VersionRow struct {
	Version   string    `json:"version"`
	Number    int       `json:"number"`
	Name      string    `json:"name"`
	Reason    string    `json:"reason"`
	SHA256    string    `json:"sha256"`
	CreatedAt time.Time `json:"created_at"`
	// Current says that the flow is like this now.
	Current bool `json:"current"`
}

// Versions are the versions of a flow, the newest first.
type Versions struct {
	ChatflowID string       `json:"chatflow_id"`
	Versions   []VersionRow `json:"versions"`
	Total      int          `json:"total"`
	// EditedElsewhere says that the flow is like none of them now.
	EditedElsewhere bool `json:"edited_elsewhere"`
}

// Summary says how many there are.
func (v Versions) Summary() string {
	text := count(v.Total, "version")
	if len(v.Versions) > 0 {
		text += ", the newest is " + v.Versions[0].Version
	}
	if v.EditedElsewhere {
		text += "; the flow was edited in Flowise since"
	}
	return text
}

func (d *domain) listVersions(ctx context.Context, call domainkit.Call, in VersionFilter) (Versions, error) {
	list, total, err := d.data.Versions(ctx, call.Instance, in.ChatflowID, in.Limit)
	if err != nil {
		return Versions{}, err
	}
	current := ""
	f, err := d.flow(ctx, call, in.ChatflowID)
	switch {
	case err == nil:
		current = hashOf(f.FlowData)
	case total == 0 || !isNotFound(err): // the versions of a deleted flow can be listed
		return Versions{}, err
	}
	out := Versions{ChatflowID: in.ChatflowID, Total: total, EditedElsewhere: total > 0 && current != ""}
	for _, v := range list {
		same := v.SHA256 == current && out.EditedElsewhere
		if same {
			out.EditedElsewhere = false
		}
		out.Versions = append(out.Versions, VersionRow{v.Label, v.Number, clip(v.Name, 60), clip(v.Reason, 60), v.SHA256, v.CreatedAt, same})
	}
	return out, nil
}

func isNotFound(err error) bool {
	refusal, is := errors.AsType[*contracts.ToolError](err)
	return is && refusal.Type == contracts.ErrNotFound
}

// VersionPair names two versions.
type VersionPair struct {
	FlowRef
	From string `json:"from" min:"1" max:"60" description:"The earlier version, such as v2"`
	To   string `json:"to,omitempty" max:"60" description:"The later version; the flow as it is now unless given"`
}

// VersionDiff is what changed between two versions.
type VersionDiff struct {
	ChatflowID string  `json:"chatflow_id"`
	From       string  `json:"from"`
	To         string  `json:"to"`
	Same       bool    `json:"same"`
	Changes    Changes `json:"changes"`
}

// Summary says what changed.
func (v VersionDiff) Summary() string {
	return fmt.Sprintf("%s to %s: %s", v.From, v.To, v.Changes.Line)
}

func (d *domain) diffVersions(ctx context.Context, call domainkit.Call, in VersionPair) (domainkit.Result[VersionDiff], error) {
	none := domainkit.Result[VersionDiff]{}
	from, before, err := d.data.Version(ctx, call.Instance, in.ChatflowID, in.From)
	if err != nil {
		return none, failure(err)
	}
	to, after, err := d.laterVersion(ctx, call, in)
	if err != nil {
		return none, err
	}
	a, err := flow.Decompile([]byte(before))
	if err != nil {
		return none, unreadable(err)
	}
	b, err := flow.Decompile([]byte(after))
	if err != nil {
		return none, unreadable(err)
	}
	defs, err := d.definitions(ctx, call.Instance)
	if err != nil {
		return none, err
	}
	diff := flow.Compare(a, b, defs)
	return domainkit.Result[VersionDiff]{
		Facts:     VersionDiff{ChatflowID: in.ChatflowID, From: from.Label, To: to, Same: before == after, Changes: changesOf(diff)},
		Artifacts: map[string]any{"diff": diff},
	}, nil
}

// laterVersion gives the version to compare with, or the flow as it is now.
func (d *domain) laterVersion(ctx context.Context, call domainkit.Call, in VersionPair) (name, flowData string, err error) {
	if in.To == "" {
		f, err := d.flow(ctx, call, in.ChatflowID)
		return "now", f.FlowData, err
	}
	v, body, err := d.data.Version(ctx, call.Instance, in.ChatflowID, in.To)
	if err != nil {
		return "", "", failure(err)
	}
	return v.Label, body, nil
}

// Rollback names the version to go back to.
type Rollback struct {
	FlowRef
	Version string `json:"version,omitempty" max:"60" description:"The version to go back to, such as v2; the one before the present one unless given"`
}

// rollbackChatflow makes an earlier version the newest one. Its bytes were live
// before, so that they need no other validation.
func (d *domain) rollbackChatflow(ctx context.Context, call domainkit.Call, in Rollback) (Written, error) {
	f, err := d.flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	target, body, err := d.rollbackTarget(ctx, call, f, in.Version)
	if err != nil {
		return Written{}, failure(err)
	}
	if err := d.data.Authorize(ctx, call.RunID, target.SHA256); err != nil {
		return Written{}, err
	}
	return d.update(ctx, call, f, body, "rolled back to "+target.Label, "")
}

func (d *domain) rollbackTarget(ctx context.Context, call domainkit.Call, f api.Flow, wanted string) (store.Version, string, error) {
	if wanted == "" {
		list, _, err := d.data.Versions(ctx, call.Instance, f.ID, 1000)
		if err != nil {
			return store.Version{}, "", err
		}
		wanted = before(list, hashOf(f.FlowData))
	}
	if wanted == "" {
		return store.Version{}, "", domainkit.Refusef(contracts.ErrPrecondition, "there is no earlier version of %s", clip(f.Name, 80))
	}
	return d.data.Version(ctx, call.Instance, f.ID, wanted)
}

// before gives the newest version that is older than the present state and
// differs from it; after an edit elsewhere, the newest one.
func before(list []store.Version, current string) string {
	seen := false
	for _, v := range list {
		if v.SHA256 == current {
			seen = true
			continue
		}
		if seen {
			return v.Label
		}
	}
	if !seen && len(list) > 0 {
		return list[0].Label
	}
	return ""
}
