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

// Selection selects the chatflows of a bulk action.
type Selection struct {
	site.Place
	Which
}

// SelectedRow is a selected chatflow with its state at the selection.
type SelectedRow struct {
	Value       string `json:"value"`
	Label       string `json:"label"`
	UpdatedAt   string `json:"updated_at"`
	StateSHA256 string `json:"state_sha256"`
}

// Selected are the selected chatflows, last changed first.
type Selected struct {
	Chatflows []SelectedRow `json:"chatflows"`
	Total     int           `json:"total"`
}

// Summary lists the first ones.
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

// mostSelected bounds a bulk action: each flow has a gate that a person reads.
const mostSelected = 25

// selectChatflows returns all selected chatflows or refuses. It never returns only a part, and
// never all flows because no filter was given.
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
