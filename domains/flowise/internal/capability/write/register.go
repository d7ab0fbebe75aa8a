// Package write changes flows: it creates, updates, renames, rolls back and deletes them. A
// proposal shows each write first. A write is bound to the reviewed flow, is stored before it is
// sent, and can be looked up afterwards.
package write

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Writer has the capabilities that write. The planners are set during registration and do not
// change afterwards.
type Writer struct {
	site     *site.Site
	rules    *policy.Rules
	author   *author.Author
	planners map[string]planner
	trial    Trial
}

// Trial runs a flow's tests against the graph that it would get, and describes the result, or
// returns "" if it has no tests.
type Trial func(ctx context.Context, call domainkit.Call, f api.Flow, next string) (string, error)

// New returns a Writer. The author compiles its graphs, and trial tests them before they are shown.
func New(s *site.Site, rules *policy.Rules, a *author.Author, trial Trial) *Writer {
	return &Writer{site: s, rules: rules, author: a, planners: map[string]planner{}, trial: trial}
}

// Register adds the capabilities. What the Go types cannot express is in package policy and the
// manifest.
func (w *Writer) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, w.site, domainkit.Capability{Name: policy.Propose}, w.propose),
		site.Add(svc, w.site, domainkit.Capability{Name: "find_write", OutputSchema: site.AppliedOnly()}, w.findWrite),
		w.registerChanges(svc),
		w.registerNew(svc),
		registerCarrying(w, svc),
		site.Add(svc, w.site, domainkit.Capability{Name: site.OpPattern, Resolve: w.resolve(site.OpPattern)}, w.savePattern),
		site.Add(svc, w.site, domainkit.Capability{Name: "delete_pattern"}, w.deletePattern),
	)
}

func (w *Writer) registerChanges(svc *domainkit.Service) error {
	gone := policy.Changing[Deletion](site.OpDelete, false)
	gone.SideEffectClass = contracts.ClassWriteIrreversible
	gone.Verify.Capability, gone.Verify.Assertions = "find_chatflow", []contracts.Condition{policy.Equal("facts.found", false)}
	return errors.Join(
		addChange(w, svc, site.OpPatch, policy.Changing[Patch](site.OpPatch, true), w.patch),
		addUndone(w, svc, site.OpRollback, map[string]any{"version": "${result.facts.previous_version}"}, true, w.rollback),
		addUndone(w, svc, site.OpRename, map[string]any{"name": "${result.facts.previous_name}"}, false, w.rename),
		addUndone(w, svc, site.OpDeploy, map[string]any{"deployed": "${result.facts.previous_deployed}"}, false, w.deploy),
		addUndone(w, svc, site.OpFile, map[string]any{"category": "${result.facts.previous_category}"}, false, w.file),
		addChange(w, svc, site.OpDelete, gone, w.delete),
	)
}

// addUndone adds a write whose compensation is the same write with the previous values.
func addUndone[In changing](w *Writer, svc *domainkit.Service, name string, before map[string]any, graph bool, think func(context.Context, domainkit.Call, api.Flow, In) (plan, error)) error {
	md := policy.Changing[In](name, graph)
	base := "${result.facts.state_sha256}"
	if graph {
		base = "${result.facts.sha256}"
	}
	params := map[string]any{"chatflow_id": "${params.chatflow_id}", "base_sha256": base, "instance": "${params.instance}"}
	maps.Copy(params, before)
	md.Compensation = &contracts.CapabilityCall{Capability: name, ParamMap: params}
	return addChange(w, svc, name, md, think)
}

func (w *Writer) registerNew(svc *domainkit.Service) error {
	create := policy.Making[Creation](site.OpCreate)
	create.Locks = []string{"chatflow-name:{name}"}
	create.Flow.Pre = slices.Insert(create.Flow.Pre, 0, policy.FindModel(), policy.ChooseCredential())
	create.Verify.Assertions = append(create.Verify.Assertions, policy.Equal("facts.name", "${params.name}"))
	restore := policy.Making[Restoring](site.OpRestore)
	restore.Flow.Pre[0] = policy.ResolveFlow(true)
	return errors.Join(
		site.Add(svc, w.site, domainkit.Capability{Name: "choose_credential"}, w.chooseCredential),
		addNew(w, svc, site.OpCreate, create, w.newFlow, w.countUse),
		addNew(w, svc, site.OpDuplicate, policy.Making[Duplicate](site.OpDuplicate), w.duplicate, nil),
		addNew(w, svc, site.OpRestore, restore, w.restore, nil),
	)
}
