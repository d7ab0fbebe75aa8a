package orchestratortest

import (
	"fmt"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// openGates opens gates and questions in sessions of ana (a…) and ben (b…), in two domains and two
// classes, for the default approver and for a role of a domain.
func openGates(t *testing.T, s Opened) []contracts.Interrupt {
	t.Helper()
	var all []contracts.Interrupt
	for _, owner := range []string{"ana", "ben"} {
		session := exampleSession("session of "+owner, 0)
		session.Owner.ID = owner
		createSession(t, s, session)
		letter := owner[:1]
		on := func(id, capability string, class contracts.SideEffectClass, roles ...string) contracts.Interrupt {
			g := gate(letter+id, session.ID, "run of "+owner)
			g.Action = &contracts.Action{Capability: capability, Policy: contracts.Policy{SideEffectClass: class}}
			g.Roles = roles
			return g
		}
		gates := []contracts.Interrupt{
			on("1", "alpha.change", contracts.ClassWriteReversible),
			on("2", "alpha.drop", contracts.ClassWriteIrreversible),
			on("3", "beta.change", contracts.ClassWriteReversible),
			on("4", "alpha.pay", contracts.ClassWriteReversible, "treasurer"),
		}
		createRun(t, s, "run of "+owner, session.ID, execution.Transition{At: day(), Gates: gates})
		question := gate(letter+"5", session.ID, "")
		question.Type, question.Action, question.Roles = contracts.InterruptClarification, nil, nil
		if err := s.OpenInterrupt(t.Context(), question, contracts.Event{SessionID: session.ID, Type: contracts.EventInterrupt}); err != nil {
			t.Fatal(err)
		}
		all = append(append(all, gates...), question)
	}
	return all
}

func ids(gates []contracts.Interrupt) []string {
	var out []string
	for _, g := range gates {
		out = append(out, g.InterruptID)
	}
	return out
}

func gatesInSight(t *testing.T, s Opened) {
	all := openGates(t, s)
	readers := map[string]struct {
		who  access.Principal
		want []string
	}{
		"everything, to an operator":               {access.Principal{ID: "otto", Roles: []access.Role{access.RoleOperator}}, ids(all)},
		"their own, to an owner":                   {access.Principal{ID: "ana", Roles: []access.Role{access.RoleViewer}}, []string{"a1", "a2", "a3", "a4", "a5"}},
		"nothing, to another viewer":               {access.Principal{ID: "vic", Roles: []access.Role{access.RoleViewer}}, nil},
		"approvals without a role, to an approver": {access.Principal{ID: "ada", Roles: []access.Role{access.RoleApprover}}, []string{"a1", "a2", "a3", "b1", "b2", "b3"}},
		"approvals for a role, to who has it":      {access.Principal{ID: "tom", Roles: []access.Role{access.RoleViewer, "treasurer"}}, []string{"a4", "b4"}},
		"their own and what they may decide":       {access.Principal{ID: "ben", Roles: []access.Role{access.RoleApprover}}, []string{"a1", "a2", "a3", "b1", "b2", "b3", "b4", "b5"}},
		"within the domains of a key": {
			access.Principal{ID: "ada", Roles: []access.Role{access.RoleApprover}, Scopes: access.Scopes{Domains: []string{"beta"}}},
			[]string{"a3", "b3"},
		},
		"within the classes of a key": {
			access.Principal{ID: "ada", Roles: []access.Role{access.RoleApprover}, Scopes: access.Scopes{Classes: []contracts.SideEffectClass{contracts.ClassWriteIrreversible}}},
			[]string{"a2", "b2"},
		},
		"within both": {
			access.Principal{ID: "ada", Roles: []access.Role{access.RoleApprover}, Scopes: access.Scopes{
				Domains: []string{"beta"}, Classes: []contracts.SideEffectClass{contracts.ClassWriteIrreversible},
			}},
			nil,
		},
	}
	for name, test := range readers {
		test.who.Kind = access.KindUser
		got, err := s.ListGates(t.Context(), orchestrator.GateFilter{Reader: test.who.Visibility()})
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, test.want, ids(got.Items))
		for _, g := range all { // what is listed can be opened, and nothing else
			owner := contracts.Principal{ID: map[byte]string{'a': "ana", 'b': "ben"}[g.InterruptID[0]]}
			listed := fmt.Sprint(test.want) != fmt.Sprint(without(test.want, g.InterruptID))
			if may := test.who.MayReadGate(g, owner) == nil; may != listed {
				t.Errorf("%s: %s is listed: %v, may be read: %v", name, g.InterruptID, listed, may)
			}
		}
	}
	none, err := s.ListGates(t.Context(), orchestrator.GateFilter{})
	if err != nil || len(none.Items) > 0 {
		t.Errorf("to nobody: got %v, %v; want nothing", ids(none.Items), err)
	}
}

func without(all []string, id string) []string {
	var rest []string
	for _, x := range all {
		if x != id {
			rest = append(rest, x)
		}
	}
	return rest
}

func gatesArePaged(t *testing.T, s Opened) {
	openGates(t, s)
	approver := access.Principal{ID: "ada", Kind: access.KindUser, Roles: []access.Role{access.RoleApprover}}
	f := orchestrator.GateFilter{Reader: approver.Visibility(), Status: contracts.InterruptOpen, Limit: 4}
	first, err := s.ListGates(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the first page", []string{"a1", "a2", "a3", "b1"}, ids(first.Items))
	// What was listed is decided, and a new gate opens, before the next page.
	if _, err := execution.UpdateInterrupt(t.Context(), s, "a1", func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = contracts.InterruptApproved
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	late := gate("late", "session of ana", "run late")
	createRun(t, s, "run late", "session of ana", execution.Transition{At: day(), Gates: []contracts.Interrupt{late}})
	f.Cursor = first.Next
	second, err := s.ListGates(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the second page", []string{"b2", "b3", "late"}, ids(second.Items))
	if second.Next != "" {
		t.Errorf("the last page has a next %q", second.Next)
	}
	_, err = s.ListGates(t.Context(), orchestrator.GateFilter{Reader: approver.Visibility(), Cursor: "nonsense", Limit: 1})
	wantCode(t, err, contracts.CodeInvalid)
}
