package workday

import (
	"context"
	"errors"
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

// titles are the writes of a business title.
type titles struct{ d *domain }

// register adds them. They leave no mark of a key: what is looked for is the title itself.
func (t titles) register(svc *domainkit.Service) error {
	var errs []error
	for _, name := range []string{"change_business_title", "restore_business_title"} {
		errs = append(errs, domainkit.AddWrite(svc, domainkit.Capability{
			Name: name, Unmarked: true, Metadata: verified(equal("facts.title", "${params.title}")),
		}, withManager(t.d, t.change), withManager(t.d, t.find)))
	}
	return errors.Join(errs...)
}

// change proposes a title. A worker who has it already is left alone.
func (t titles) change(ctx context.Context, _ domainkit.Call, in TitleOrder) (Title, error) {
	d := t.d
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

// find finds the change to a title: the worker has it, or will have it once Workday
// has approved the change. It cannot tell when a change to it was made and came to
// nothing, because that may have been the one that is looked for or another: a title
// carries no mark of a key.
func (t titles) find(ctx context.Context, _ domainkit.Call, in TitleOrder) (*Title, error) {
	d := t.d
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return nil, err
	}
	changes, err := d.client.TitleChanges(ctx, in.Worker)
	if err != nil {
		return nil, failure(err)
	}
	newest := newestChange(changes)
	found := &Title{Worker: w.ID, Name: w.Descriptor, Title: in.Title, PreviousTitle: w.Title, InEffect: w.Title == in.Title}
	switch {
	case newest != nil && newest.Proposed == in.Title:
		found.ChangeID, found.PreviousTitle = newest.ID, newest.Current
	case !found.InEffect:
		return nil, nil //nolint:nilnil // nobody made such a change
	}
	if found.InEffect {
		return found, nil
	}
	event, err := d.client.Event(ctx, newest.ID)
	switch {
	case rest.IsKind(err, rest.KindNotFound):
		return nil, domainkit.ErrOutcomeUnknown
	case err != nil:
		return nil, failure(err)
	case eventState(event.Status.Descriptor) != stateSubmitted:
		return nil, domainkit.ErrOutcomeUnknown
	}
	return found, nil
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
