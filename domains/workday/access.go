package workday

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// Access says who may see and change whose time off and title. The service
// speaks to the tenant as one integration user, so Workday itself cannot tell
// the askers apart: this is where they are. Roles are those of the principal of
// a call; "*" is anybody.
type Access struct {
	// Self are the roles that may ask about themselves [*], Reports about those
	// who report to them directly [*], All about anybody [workday:hr].
	Self, Reports, All []string
	// People maps a principal to the Workday id of the worker who it is, where
	// neither an e-mail address nor an employee number says it. A name never
	// does: names are not unique, and can be chosen.
	People map[string]string
}

// RoleHR is the role that may ask about anybody unless Access says otherwise.
const RoleHR = "workday:hr"

// anybody stands for every role.
const anybody = "*"

func (a Access) withDefaults() Access {
	if a.Self == nil {
		a.Self = []string{anybody}
	}
	if a.Reports == nil {
		a.Reports = []string{anybody}
	}
	if a.All == nil {
		a.All = []string{RoleHR}
	}
	return a
}

// declare writes the rules into the hints of the manifest, wherever a parameter
// marks the person whom a call is about, and takes out capabilities that are absent.
func (a Access) declare(hints []byte, absent ...string) ([]byte, error) {
	var manifest map[string]any
	if err := json.Unmarshal(hints, &manifest); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	capabilities, _ := manifest["capabilities"].([]any)
	capabilities = slices.DeleteFunc(capabilities, func(c any) bool {
		name, _ := at(c, "name").(string)
		return slices.Contains(absent, name)
	})
	manifest["capabilities"] = capabilities
	for _, c := range capabilities {
		metadata, _ := at(c, "metadata").(map[string]any)
		specs, _ := at(metadata, "parameter_specs").(map[string]any)
		for _, spec := range specs {
			if spec, ok := spec.(map[string]any); ok && spec["subject"] != nil {
				spec["subject"] = a.subject(spec["subject"])
			}
		}
	}
	return json.Marshal(manifest)
}

// subject is what one parameter declares. Of the hints, no self says that nobody may do
// this for themselves, and anybody in all that it is about no secret.
func (a Access) subject(hint any) contracts.Subject {
	s := contracts.Subject{Self: a.Self, Reports: a.Reports, All: a.All}
	if list, ok := at(hint, "self").([]any); !ok || len(list) == 0 {
		s.Self = nil
	}
	if list, ok := at(hint, "all").([]any); ok && slices.Contains(list, any(anybody)) {
		s.Self, s.Reports, s.All = []string{anybody}, []string{anybody}, []string{anybody}
	}
	return s
}

func at(object any, name string) any {
	members, _ := object.(map[string]any)
	return members[name]
}

func has(roles, needed []string) bool {
	return slices.ContainsFunc(needed, func(n string) bool { return n == anybody || slices.Contains(roles, n) })
}

// concerned are parameters that are about one worker.
type concerned interface{ about() string }

func (w Whom) about() string    { return w.Worker }
func (s Someone) about() string { return s.Worker }

// handler is a capability's.
type handler[In, Out any] = func(context.Context, domainkit.Call, In) (Out, error)

// withSelfOrManager allows a handler only for callers who may ask about the worker that its
// parameters name.
func withSelfOrManager[In concerned, Out any](d *domain, handle handler[In, Out]) handler[In, Out] {
	return guarded(d, d.access.Self, handle)
}

// withManager is withSelfOrManager without the worker themselves.
func withManager[In concerned, Out any](d *domain, handle handler[In, Out]) handler[In, Out] {
	return guarded(d, nil, handle)
}

func guarded[In concerned, Out any](d *domain, self []string, handle handler[In, Out]) handler[In, Out] {
	return func(ctx context.Context, call domainkit.Call, in In) (Out, error) {
		if err := d.allow(ctx, call.Principal, in.about(), self); err != nil {
			var none Out
			return none, err
		}
		return handle(ctx, call, in)
	}
}

// withEmployee allows a handler only for workers of the tenant and for callers who may ask
// about anybody.
func withEmployee[In, Out any](d *domain, handle handler[In, Out]) handler[In, Out] {
	return func(ctx context.Context, call domainkit.Call, in In) (out Out, err error) {
		if !has(call.Principal.Roles, d.access.All) {
			if _, err := d.known(ctx, call.Principal); err != nil {
				return out, err
			}
		}
		return handle(ctx, call, in)
	}
}

// allow refuses an asker who may not ask about a worker. It costs calls of the
// tenant only for those who may not ask about everybody.
func (d *domain) allow(ctx context.Context, asker contracts.Principal, worker string, self []string) error {
	if has(asker.Roles, d.access.All) {
		return nil
	}
	me, err := d.known(ctx, asker)
	if err != nil {
		return err
	}
	if worker == me.ID && has(asker.Roles, self) {
		return nil
	}
	if me.Manager && has(asker.Roles, d.access.Reports) {
		if reports, err := d.reportsTo(ctx, worker, me.ID); err != nil || reports {
			return err
		}
	}
	if worker == me.ID {
		return domainkit.Refusef(contracts.ErrUnauthorized, "nobody may do this for themselves; your manager or one of the roles %s can", strings.Join(d.access.All, ", "))
	}
	return domainkit.Refusef(contracts.ErrUnauthorized, "you may ask about yourself and about those who report to you; about anybody only with one of the roles %s", strings.Join(d.access.All, ", "))
}

// known is the worker who asks, and refuses whom the tenant does not know.
func (d *domain) known(ctx context.Context, asker contracts.Principal) (rest.Worker, error) {
	me, known, err := d.asker(ctx, asker)
	if err == nil && !known {
		err = domainkit.Refusef(contracts.ErrUnauthorized, "Workday does not know who %q is, so only the roles %s may ask about somebody", asker.Subject(), strings.Join(d.access.All, ", "))
	}
	return me, err
}

// asker finds the worker who a principal is. Somebody unknown is nobody's self
// and nobody's manager.
func (d *domain) asker(ctx context.Context, p contracts.Principal) (w rest.Worker, known bool, err error) {
	ref := d.access.People[p.Subject()]
	if ref == "" {
		if ref, err = d.reference(ctx, p.Subject()); err != nil || ref == "" {
			return w, false, err
		}
	}
	w, err = d.people.Worker(ctx, ref)
	switch {
	case rest.IsKind(err, rest.KindNotFound):
		return w, false, nil
	case err != nil:
		return w, false, failure(err)
	}
	return w, true, nil
}

// reference reads an e-mail address or an employee number as the tenant's
// reference of a worker; "" for what is neither.
func (d *domain) reference(ctx context.Context, who string) (string, error) {
	switch {
	case strings.Contains(who, "@"):
		staff, err := d.client.FindStaff(ctx, who, 2)
		if err != nil {
			return "", failure(err)
		}
		if len(staff.Items) != 1 { // none, or an address that does not tell two apart
			return "", nil
		}
		w, err := d.people.Worker(ctx, staff.Items[0].ID)
		if err != nil || !strings.EqualFold(w.Email, who) {
			return "", nil //nolint:nilerr // who cannot be read is not known
		}
		return w.ID, nil
	case who != "" && strings.IndexFunc(who, func(r rune) bool { return !unicode.IsDigit(r) }) < 0:
		return "Employee_ID=" + who, nil
	}
	return "", nil
}

// reportsTo reports whether a worker's direct manager is somebody.
func (d *domain) reportsTo(ctx context.Context, worker, manager string) (bool, error) {
	w, err := d.worker(ctx, worker)
	if err != nil {
		return false, err
	}
	org, err := d.client.Organization(ctx, w.Organization.ID)
	switch {
	case rest.IsKind(err, rest.KindForbidden) || rest.IsKind(err, rest.KindNotFound):
		return false, nil
	case err != nil:
		return false, failure(err)
	}
	return org.Manager.ID == manager && w.ID != manager, nil
}

// isAsker reports whether a search is for the requester: the word that a plan puts
// where a sentence says me or my.
func isAsker(query string) bool { return fold(query) == "me" }
