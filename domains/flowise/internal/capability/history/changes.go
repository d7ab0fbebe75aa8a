// Package history records and lists the changes of flows, made by this domain or in Flowise's own
// UI.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Historian has the capabilities about the history of flows.
type Historian struct{ site *site.Site }

// New returns a Historian.
func New(s *site.Site) *Historian { return &Historian{s} }

// Register adds the capabilities. What the Go types cannot express is in the manifest.
func (h *Historian) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, h.site, domainkit.Capability{Name: "list_changes"}, h.listChanges),
		site.Add(svc, h.site, domainkit.Capability{Name: "last_change"}, h.lastChange),
		site.Add(svc, h.site, domainkit.Capability{Name: "export_chatflow"}, h.export),
	)
}

// ChangeFilter are the parameters of list_changes.
type ChangeFilter struct {
	site.Place
	Since      string `json:"since,omitempty" format:"date" description:"Since which day; since yesterday unless given, of one chatflow since its first version"`
	Until      string `json:"until,omitempty" format:"date" description:"Until which day; until now unless given"`
	ChatflowID string `json:"chatflow_id,omitempty" pattern:"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" description:"Only those of this chatflow"`
	Limit      int    `json:"limit" default:"20" min:"1" max:"50" description:"How many at most"`
}

// ChangeRow is one change of a flow.
type ChangeRow struct {
	At         time.Time `json:"at"`
	Name       string    `json:"name"`
	ChatflowID string    `json:"chatflow_id"`
	Version    string    `json:"version"`
	// By is the author, if known: Flowise stores no names.
	By     string `json:"by"`
	Change string `json:"change"`
}

// Changes are changes of flows, newest first.
type Changes struct {
	// Since is the first day of the search, or "" for all stored changes.
	Since   string      `json:"since"`
	Changes []ChangeRow `json:"changes"`
	// Elsewhere counts the changes made in Flowise's own UI.
	Elsewhere int `json:"elsewhere"`
}

// Summary reports their number and authors.
func (c Changes) Summary() string {
	since := ""
	if c.Since != "" {
		since = " since " + c.Since
	}
	if len(c.Changes) == 0 {
		return "nothing changed" + since
	}
	last := c.Changes[0]
	return fmt.Sprintf("%s%s, %d of them in Flowise itself; the last: %s, by %s at %s, %s", present.Count(len(c.Changes), "change"), since, c.Elsewhere,
		present.Clip(last.Name, 60), last.By, last.At.UTC().Format(minute), present.Clip(last.Change, 120))
}

// listChanges reads the server first, so that recent edits are included.
func (h *Historian) listChanges(ctx context.Context, call domainkit.Call, in ChangeFilter) (Changes, error) {
	since, until, err := h.period(in)
	if err != nil {
		return Changes{}, err
	}
	if _, err := Sweep(ctx, h.site, call.Instance); err != nil {
		return Changes{}, err
	}
	list, err := h.site.Data.Changes(ctx, call.Instance, in.ChatflowID, since, changesKept)
	if err != nil {
		return Changes{}, err
	}
	list = slices.DeleteFunc(list, func(v store.Version) bool { return !v.CreatedAt.Before(until) })
	out := Changes{Changes: []ChangeRow{}}
	if since.Unix() > 0 {
		out.Since = since.Format(time.DateOnly)
	}
	for _, v := range list[:min(len(list), in.Limit)] {
		row, err := h.rowOf(ctx, call, v)
		if err != nil {
			return Changes{}, err
		}
		if v.Reason == site.EditedInFlowise {
			out.Elsewhere++
		}
		out.Changes = append(out.Changes, row)
	}
	out.Changes = present.Within(out.Changes, 5<<10)
	return out, nil
}

// Last is the last change of a flow.
type Last struct{ ChangeRow }

// Summary reports author, time and change.
func (l Last) Summary() string {
	text := fmt.Sprintf("%s was changed last by %s, at %s", present.Clip(l.Name, 60), l.By, l.At.UTC().Format(minute))
	if l.By == site.NotKnown {
		return fmt.Sprintf("%s was changed last at %s, in Flowise itself, which keeps no names", present.Clip(l.Name, 60), l.At.UTC().Format(minute))
	}
	return text + ": " + present.Clip(l.Change, 200)
}

// minute is the time format of messages.
const minute = "2006-01-02 15:04 UTC"

// lastChange returns the last change of a flow. It reads the server first.
func (h *Historian) lastChange(ctx context.Context, call domainkit.Call, in site.FlowRef) (Last, error) {
	f, err := h.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Last{}, err
	}
	if _, err := Sweep(ctx, h.site, call.Instance); err != nil {
		return Last{}, err
	}
	list, err := h.site.Data.Changes(ctx, call.Instance, f.ID, time.Unix(0, 0), 1)
	if err != nil {
		return Last{}, err
	}
	if len(list) == 0 {
		return Last{}, domainkit.Refusef(contracts.ErrNotFound, "no version of %s is kept", present.NameOf(f.Name))
	}
	row, err := h.rowOf(ctx, call, list[0])
	if site.MadeBy(list[0]) != site.ByManifold && !f.UpdatedDate.IsZero() {
		row.At = f.UpdatedDate // not the time at which it was noticed
	}
	return Last{row}, err
}

// changesKept bounds the changes of a period that are read.
const changesKept = 1000

// period returns the start and end of the search.
func (h *Historian) period(in ChangeFilter) (since, until time.Time, err error) {
	now := h.site.Now().UTC()
	since, until = now.AddDate(0, 0, -1).Truncate(24*time.Hour), now.AddDate(0, 0, 1)
	if in.ChatflowID != "" {
		since = time.Unix(0, 0)
	}
	for given, day := range map[*time.Time]string{&since: in.Since, &until: in.Until} {
		if day == "" {
			continue
		}
		if *given, err = time.Parse(time.DateOnly, day); err != nil {
			return since, until, domainkit.Refusef(contracts.ErrInvalidParameters, "%q is no day such as 2026-01-31", day)
		}
	}
	if in.Until != "" {
		until = until.AddDate(0, 0, 1) // the last day is included
	}
	return since, until, nil
}

// rowOf describes one version by its differences from the one before.
func (h *Historian) rowOf(ctx context.Context, call domainkit.Call, v store.Version) (ChangeRow, error) {
	row := ChangeRow{At: v.CreatedAt, Name: present.Clip(v.Name, 80), ChatflowID: v.ChatflowID, Version: v.Label, By: site.MadeBy(v), Change: v.Reason}
	if v.RunID != "" && row.By == site.ByManifold {
		row.By += ", run " + v.RunID
	}
	if v.Number < 2 {
		return row, nil
	}
	before, old, err := h.site.Data.Version(ctx, call.Instance, v.ChatflowID, fmt.Sprint(v.Number-1))
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return row, nil // no longer stored
	}
	if err != nil {
		return row, err
	}
	_, body, err := h.site.Data.Version(ctx, call.Instance, v.ChatflowID, fmt.Sprint(v.Number))
	if err != nil {
		return row, err
	}
	if before.Name != v.Name {
		row.Change = fmt.Sprintf("renamed from %s", present.Clip(before.Name, 60))
	}
	if lines := h.difference(ctx, call, old, body); lines != "" {
		row.Change = lines
	}
	return row, nil
}

// difference describes the differences between two graphs. It returns "" if there are none or a
// graph cannot be read.
func (h *Historian) difference(ctx context.Context, call domainkit.Call, before, after string) string {
	if before == after {
		return ""
	}
	defs, err := h.site.Definitions(ctx, call.Instance)
	if err != nil {
		return ""
	}
	a, errA := flow.Decompile([]byte(before))
	b, errB := flow.Decompile([]byte(after))
	if errA != nil || errB != nil {
		return ""
	}
	changes := present.ChangesOf(flow.Compare(a, b, defs))
	if lines := changes.Lines(); len(lines) > 0 {
		return present.Clip(changes.Line+": "+lines[0], 200)
	}
	return changes.Line
}
