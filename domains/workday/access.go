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

// Access defines whose time off and title a requester may see and change. The service calls the
// tenant as one integration user, so Workday cannot distinguish requesters; these rules are
// enforced here. Roles are those of the call's principal; "*" matches every principal.
type Access struct {
	// Self are the roles that may access their own data [*], Reports those that may access their
	// direct reports [*], All those that may access every worker [workday:hr].
	Self, Reports, All []string
	// People maps a principal to the Workday id of its worker, for principals whose id is neither
	// an e-mail address nor an employee number. A name never identifies a worker: names are not
	// unique, and a principal may choose them.
	People map[string]string
}

// RoleHR is the default of Access.All.
const RoleHR = "workday:hr"

// anybody matches every role.
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

// declare writes the rules into the manifest hints, at every parameter that marks the subject of a
// call, and removes the absent capabilities.
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

// subject returns the subject rule of one parameter. In the hints, an absent self means that the
// call is not allowed for oneself; "*" in all means that the data is not confidential.
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

// concerned is implemented by parameters about one worker.
type concerned interface{ about() string }

func (w Whom) about() string    { return w.Worker }
func (s Someone) about() string { return s.Worker }

// handler is the handler of a capability.
type handler[In, Out any] = func(context.Context, domainkit.Call, In) (Out, error)

// withSelfOrManager restricts a handler to requesters who may access the worker in its parameters,
// including the worker.
func withSelfOrManager[In concerned, Out any](d *domain, handle handler[In, Out]) handler[In, Out] {
	return guarded(d, d.access.Self, handle)
}

// withManager is like withSelfOrManager, without the worker.
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

// withEmployee restricts a handler to workers of the tenant and to the roles of Access.All.
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

// allow returns an error if the requester may not access a worker. It calls the tenant only for
// requesters without a role of Access.All.
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

// known returns the requester's worker, or refuses a requester unknown to the tenant.
func (d *domain) known(ctx context.Context, asker contracts.Principal) (rest.Worker, error) {
	me, known, err := d.asker(ctx, asker)
	if err == nil && !known {
		err = domainkit.Refusef(contracts.ErrUnauthorized, "Workday does not know who %q is, so only the roles %s may ask about somebody", asker.Subject(), strings.Join(d.access.All, ", "))
	}
	return me, err
}

// asker returns the worker of a principal. An unknown principal is nobody's self and nobody's
// manager.
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

// reference returns the tenant's reference of a worker by e-mail address or employee number, or ""
// if the text is neither.
func (d *domain) reference(ctx context.Context, who string) (string, error) {
	switch {
	case strings.Contains(who, "@"):
		staff, err := d.client.FindStaff(ctx, who, 2)
		if err != nil {
			return "", failure(err)
		}
		if len(staff.Items) != 1 { // none, or ambiguous
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

// reportsTo reports whether a worker's direct manager is the given worker.
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

// isAsker reports whether a search is for the requester: plans use "me" for me and my.
func isAsker(query string) bool { return fold(query) == "me" }
