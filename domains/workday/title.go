package workday

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// TitleOrder is a wish for another business title.
type TitleOrder struct {
	Someone
	Title string `json:"title" max:"100" pattern:"^\\S(.*\\S)?$" description:"The new business title"`
}

// Title is the business title of a worker after a change was asked for.
type Title struct {
	Worker        string `json:"worker"`
	Name          string `json:"worker_name"`
	Title         string `json:"title"`
	PreviousTitle string `json:"previous_title"`
	ChangeID      string `json:"change_id,omitempty"`
	// InEffect is false while Workday waits for an approval.
	InEffect bool `json:"in_effect"`
}

// Summary says from what to what.
func (t Title) Summary() string {
	switch {
	case t.PreviousTitle == t.Title:
		return fmt.Sprintf("%s is %s already", t.Name, t.Title)
	case t.InEffect:
		return fmt.Sprintf("%s is now %s; before: %s", t.Name, t.Title, t.PreviousTitle)
	}
	return fmt.Sprintf("change of %s from %s to %s: submitted, waiting for the approval in Workday", t.Name, t.PreviousTitle, t.Title)
}

// changeTitle proposes a title. A worker who has it already is left alone.
func (d *domain) changeTitle(ctx context.Context, _ domainkit.Call, in TitleOrder) (Title, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Title{}, err
	}
	if w.Title == in.Title {
		return Title{Worker: w.ID, Name: w.Descriptor, Title: in.Title, PreviousTitle: w.Title, InEffect: true}, nil
	}
	change, err := d.client.ChangeTitle(ctx, w.ID, in.Title)
	if err != nil {
		return Title{}, failure(err)
	}
	out := Title{Worker: w.ID, Name: w.Descriptor, Title: in.Title, PreviousTitle: w.Title, ChangeID: change.ID}
	if now, err := d.client.Worker(ctx, w.ID); err == nil {
		out.InEffect = now.Title == in.Title // whether it is in effect is only extra; the change was made
	}
	return out, nil
}

// FoundTitle is a change that was looked for.
type FoundTitle struct {
	Applied *bool `json:"applied"`
	*Title
}

// Summary says whether there is one.
func (f FoundTitle) Summary() string {
	switch {
	case f.Title != nil:
		return f.Title.Summary()
	case f.Applied == nil:
		return "it cannot be told whether the title change was made"
	}
	return "there is no such title change"
}

// findTitle tells whether a worker has a title, or will have it once Workday
// has approved the change. It is null when a change to it was made and came to
// nothing, because that may have been the one that is looked for or another.
func (d *domain) findTitle(ctx context.Context, _ domainkit.Call, in TitleOrder) (FoundTitle, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return FoundTitle{}, err
	}
	changes, err := d.client.TitleChanges(ctx, in.Worker)
	if err != nil {
		return FoundTitle{}, failure(err)
	}
	yes, no := true, false
	newest := newestChange(changes)
	known := Title{Worker: w.ID, Name: w.Descriptor, Title: in.Title, PreviousTitle: w.Title, InEffect: w.Title == in.Title}
	switch {
	case newest != nil && newest.Proposed == in.Title:
		known.ChangeID, known.PreviousTitle = newest.ID, newest.Current
	case known.InEffect:
		return FoundTitle{Applied: &yes, Title: &known}, nil
	default:
		return FoundTitle{Applied: &no}, nil
	}
	if known.InEffect {
		return FoundTitle{Applied: &yes, Title: &known}, nil
	}
	event, err := d.client.Event(ctx, newest.ID)
	switch {
	case rest.IsKind(err, rest.KindNotFound):
		return FoundTitle{}, nil
	case err != nil:
		return FoundTitle{}, failure(err)
	case eventState(event.Status.Descriptor) == stateSubmitted:
		return FoundTitle{Applied: &yes, Title: &known}, nil
	}
	return FoundTitle{}, nil
}

// newestChange is the one that was begun last; of several that were begun at
// once, the last of the list.
func newestChange(changes []rest.TitleChange) *rest.TitleChange {
	var newest *rest.TitleChange
	for i := range changes {
		if newest == nil || changes[i].Initiated >= newest.Initiated {
			newest = &changes[i]
		}
	}
	return newest
}

// resolveTitle is findTitle for an execution that was cut off.
func (d *domain) resolveTitle(ctx context.Context, call domainkit.Call, in TitleOrder) (applied *bool, facts any, err error) {
	found, err := d.findTitle(ctx, call, in)
	return found.Applied, found.Title, err
}
