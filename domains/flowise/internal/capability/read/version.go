package read

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// VersionFilter are the parameters of list_versions.
type VersionFilter struct {
	site.FlowRef
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
	// By is the author, if known; RunID is the run that wrote it.
	By    string `json:"by"`
	RunID string `json:"run_id,omitempty"`
	// Current means that the flow has this version now.
	Current bool `json:"current"`
}

// Versions are the versions of a flow, newest first.
type Versions struct {
	ChatflowID string       `json:"chatflow_id"`
	Versions   []VersionRow `json:"versions"`
	Total      int          `json:"total"`
	// EditedElsewhere means that the current flow equals none of them.
	EditedElsewhere bool `json:"edited_elsewhere"`
}

// Summary reports their number.
func (v Versions) Summary() string {
	text := present.Count(v.Total, "version")
	if len(v.Versions) > 0 {
		text += ", the newest is " + v.Versions[0].Version
	}
	if v.EditedElsewhere {
		text += "; the flow was edited in Flowise since"
	}
	return text
}

func (r *Reader) listVersions(ctx context.Context, call domainkit.Call, in VersionFilter) (Versions, error) {
	list, total, err := r.site.Data.Versions(ctx, call.Instance, in.ChatflowID, in.Limit)
	if err != nil {
		return Versions{}, err
	}
	current := ""
	f, err := r.site.Flow(ctx, call, in.ChatflowID)
	switch {
	case err == nil:
		current = site.HashOf(f.FlowData)
	case total == 0 || !site.IsNotFound(err): // versions of a deleted flow can be listed
		return Versions{}, err
	}
	out := Versions{ChatflowID: in.ChatflowID, Total: total, EditedElsewhere: total > 0 && current != ""}
	for _, v := range list {
		same := v.SHA256 == current && out.EditedElsewhere
		if same {
			out.EditedElsewhere = false
		}
		out.Versions = append(out.Versions, VersionRow{v.Label, v.Number, present.Clip(v.Name, 60), present.Clip(v.Reason, 60), v.SHA256, v.CreatedAt, site.MadeBy(v), v.RunID, same})
	}
	out.Versions = present.Within(out.Versions, 12<<10)
	return out, nil
}

// VersionPair identifies two versions.
type VersionPair struct {
	site.FlowRef
	From string `json:"from,omitempty" max:"60" description:"The earlier version, such as v2; the one before the later one unless given"`
	To   string `json:"to,omitempty" max:"60" description:"The later version; the flow as it is now unless given"`
}

// VersionDiff is the difference between two versions.
type VersionDiff struct {
	ChatflowID string          `json:"chatflow_id"`
	From       string          `json:"from"`
	To         string          `json:"to"`
	Same       bool            `json:"same"`
	Changes    present.Changes `json:"changes"`
	// Rows are the individual changes.
	Rows []ChangeRow `json:"rows"`
}

// ChangeRow is one change.
type ChangeRow struct {
	Change string `json:"change"`
}

// Summary reports the first changes.
func (v VersionDiff) Summary() string {
	var first []string
	for _, row := range v.Rows[:min(3, len(v.Rows))] {
		first = append(first, row.Change)
	}
	text := fmt.Sprintf("%s to %s: %s", v.From, v.To, v.Changes.Line)
	if len(first) > 0 {
		text += ": " + strings.Join(first, "; ")
	}
	return present.Clip(text, 290)
}

func (r *Reader) diffVersions(ctx context.Context, call domainkit.Call, in VersionPair) (domainkit.Result[VersionDiff], error) {
	none := domainkit.Result[VersionDiff]{}
	to, after, err := r.laterVersion(ctx, call, in)
	if err != nil {
		return none, err
	}
	if in.To != "" {
		in.To = to
	}
	if in.From == "" {
		if in.From, err = r.versionBefore(ctx, call, in, after); err != nil {
			return none, err
		}
	}
	from, before, err := r.site.Version(ctx, call, in.ChatflowID, in.From)
	if err != nil {
		return none, site.Failure(err)
	}
	a, err := flow.Decompile([]byte(before))
	if err != nil {
		return none, site.Unreadable(err)
	}
	b, err := flow.Decompile([]byte(after))
	if err != nil {
		return none, site.Unreadable(err)
	}
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return none, err
	}
	diff := flow.Compare(a, b, defs)
	changes := present.ChangesOf(diff)
	rows := []ChangeRow{}
	for _, line := range changes.Lines() {
		rows = append(rows, ChangeRow{line})
	}
	rows = present.Within(rows, 5<<10)
	return domainkit.Result[VersionDiff]{
		Facts:     VersionDiff{ChatflowID: in.ChatflowID, From: from.Label, To: to, Same: before == after, Changes: changes, Rows: rows},
		Artifacts: map[string]any{"diff": diff},
	}, nil
}

// versionBefore returns the newest version before the later one that differs from it.
func (r *Reader) versionBefore(ctx context.Context, call domainkit.Call, in VersionPair, after string) (string, error) {
	list, _, err := r.site.Data.Versions(ctx, call.Instance, in.ChatflowID, 60)
	if err != nil {
		return "", err
	}
	passed := in.To == ""
	for _, v := range list { // newest first
		if passed && v.SHA256 != site.HashOf(after) {
			return v.Label, nil
		}
		passed = passed || v.Label == in.To
	}
	return "", domainkit.Refusef(contracts.ErrNotFound, "there is no version of the flow before that")
}

// laterVersion returns the version to compare with, or the current flow.
func (r *Reader) laterVersion(ctx context.Context, call domainkit.Call, in VersionPair) (name, flowData string, err error) {
	if in.To == "" {
		f, err := r.site.Flow(ctx, call, in.ChatflowID)
		return "now", f.FlowData, err
	}
	v, body, err := r.site.Version(ctx, call, in.ChatflowID, in.To)
	if err != nil {
		return "", "", site.Failure(err)
	}
	return v.Label, body, nil
}
