package read

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Selection says to which chatflows something is to be done, one by one.
type Selection struct {
	site.Place
	Which
}

// SelectedRow is one of them, as it was when it was looked at.
type SelectedRow struct {
	Value       string `json:"value"`
	Label       string `json:"label"`
	UpdatedAt   string `json:"updated_at"`
	StateSHA256 string `json:"state_sha256"`
}

// Selected are the chatflows that are meant, the last changed first.
type Selected struct {
	Chatflows []SelectedRow `json:"chatflows"`
	Total     int           `json:"total"`
}

// Summary names the first of them.
func (s Selected) Summary() string {
	if s.Total == 0 {
		return "no chatflow is like that"
	}
	var names []string
	for _, row := range s.Chatflows[:min(5, len(s.Chatflows))] {
		names = append(names, present.Clip(row.Label, 40))
	}
	return fmt.Sprintf("%s: %s", present.Count(s.Total, "chatflow"), strings.Join(names, ", "))
}

// mostSelected bounds how many are handled at once: each has a gate that somebody reads.
const mostSelected = 25

// selectChatflows returns all that are meant, or refuses: never some of them, and never all
// flows because nothing was said of them.
func (r *Reader) selectChatflows(ctx context.Context, call domainkit.Call, in Selection) (Selected, error) {
	if in.Query == "" && in.Uses == "" && in.Category == "" && in.UnchangedSince == "" && in.UnchangedUntil == "" {
		return Selected{}, domainkit.Refusef(contracts.ErrInvalidParameters, "say which chatflows: those that use something, those of a folder, or those that nobody changed since a day")
	}
	all, cut, err := r.meant(ctx, call, in.Which)
	if err != nil {
		return Selected{}, err
	}
	if cut || len(all) > mostSelected {
		return Selected{}, domainkit.Refusef(contracts.ErrPrecondition, "%s are meant, and at most %d are handled at once; say more narrowly which", present.Count(len(all), "chatflow"), mostSelected)
	}
	out := Selected{Total: len(all), Chatflows: []SelectedRow{}}
	for _, listed := range all {
		f, err := r.site.Flow(ctx, call, listed.ID) // a list has no graphs
		if err != nil {
			return Selected{}, err
		}
		out.Chatflows = append(out.Chatflows, SelectedRow{f.ID, present.Clip(f.Name, 120), f.UpdatedDate.UTC().Format(time.DateTime), site.StateHash(f)})
	}
	return out, nil
}
