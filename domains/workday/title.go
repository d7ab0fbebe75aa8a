package workday

import (
	"context"
	"errors"
	"fmt"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// TitleOrder are the parameters of a change of business title.
type TitleOrder struct {
	Someone
	Title string `json:"title" max:"100" pattern:"^\\S(.*\\S)?$" description:"The new business title"`
}

// Title is the result of a change of business title.
type Title struct {
	Worker        string `json:"worker"`
	Name          string `json:"worker_name"`
	Title         string `json:"title"`
	PreviousTitle string `json:"previous_title"`
	ChangeID      string `json:"change_id,omitempty"`
	// InEffect is false while Workday awaits an approval.
	InEffect bool `json:"in_effect"`
}

// Summary reports the old and the new title.
func (t Title) Summary() string {
	switch {
	case t.PreviousTitle == t.Title:
		return fmt.Sprintf("%s is %s already", t.Name, t.Title)
	case t.InEffect:
		return fmt.Sprintf("%s is now %s; before: %s", t.Name, t.Title, t.PreviousTitle)
	}
	return fmt.Sprintf("change of %s from %s to %s: submitted, waiting for the approval in Workday", t.Name, t.PreviousTitle, t.Title)
}

// titles are the writes of business titles.
type titles struct{ d *domain }

// register adds the writes. They leave no marker of the key; find looks for the title itself.
func (t titles) register(svc *domainkit.Service) error {
	var errs []error
	for _, name := range []string{"change_business_title", "restore_business_title"} {
		errs = append(errs, domainkit.AddWrite(svc, domainkit.Capability{
			Name: name, Unmarked: true, Metadata: verified(equal("facts.title", "${params.title}")),
		}, withManager(t.d, t.change), withManager(t.d, t.find)))
	}
	return errors.Join(errs...)
}

// change proposes a title. It does nothing if the worker already has it.
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
		out.InEffect = now.Title == in.Title // the change was made; whether it is in effect is optional
	}
	return out, nil
}

// find looks for the change to a title: the worker has the title, or will have it once Workday has
// approved the change. If a change to the title was made and ended without effect, the outcome is
// unknown, because that may have been this change or another: a title carries no marker of the key.
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

// newestChange returns the change that was started last; of several started at once, the last in
// the list.
func newestChange(changes []rest.TitleChange) *rest.TitleChange {
	var newest *rest.TitleChange
	for i := range changes {
		if newest == nil || changes[i].Initiated >= newest.Initiated {
			newest = &changes[i]
		}
	}
	return newest
}
