package access_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
)

func person(name string, roles ...access.Role) access.Principal {
	return access.Principal{Kind: access.KindUser, ID: name, Roles: roles}
}

func service(name string, roles ...access.Role) access.Principal {
	return access.Principal{Kind: access.KindService, ID: name, Roles: roles}
}

// roleTable is the expected authorization table; a new action must be added here.
const roleTable = `
catalog.read     viewer requester operator approver admin
session.start    viewer requester operator approver admin
run.read_all            operator          admin
run.steer_all           operator          admin
run.settle              operator          admin
run.compensate          operator          admin
gate.decide                      approver admin
lock.read               operator          admin
lock.break                                admin
audit.read              operator auditor  admin
gate.read_all           operator auditor  admin
ledger.read_all         operator auditor  admin
domain.manage                             admin
key.manage                                admin
data.read                                 admin
operations.read         operator          admin
session.delete                            admin
`

func TestRolesMayDoExactlyTheTable(t *testing.T) {
	t.Parallel()
	rows := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(roleTable)) {
		action, roles, _ := strings.Cut(line, " ")
		rows[action] = roles
	}
	if len(rows) != len(access.Actions()) {
		t.Errorf("the table has %d rows, there are %d actions", len(rows), len(access.Actions()))
	}
	for _, a := range access.Actions() {
		for _, r := range []access.Role{access.RoleViewer, access.RoleRequester, access.RoleOperator, access.RoleApprover, access.RoleAuditor, access.RoleAdmin, "recruiter"} {
			want := strings.Contains(rows[string(a)], string(r))
			if err := person("ana", r).May(a); (err == nil) != want {
				t.Errorf("%s as %s: allowed %v, want %v (%v)", a, r, err == nil, want, err)
			}
		}
	}
	if person("ana", access.RoleAdmin).May("universe.destroy") == nil {
		t.Error("an unknown action is allowed")
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	scoped := person("ana", access.RoleOperator)
	scoped.Scopes = access.Scopes{Domains: []string{"alpha"}, Classes: []contracts.SideEffectClass{contracts.ClassRead}}
	tests := map[string]struct {
		who    access.Principal
		domain string
		class  contracts.SideEffectClass
		want   bool
	}{
		"a viewer reads":                            {person("v", access.RoleViewer), "alpha", contracts.ClassRead, true},
		"a viewer asks for suggestions":             {person("v", access.RoleViewer), "alpha", contracts.ClassSuggest, true},
		"a viewer asks for no write":                {person("v", access.RoleViewer), "alpha", contracts.ClassWriteReversible, false},
		"an approver asks for no write either":      {person("p", access.RoleApprover), "alpha", contracts.ClassWriteReversible, false},
		"an absent class is a write":                {person("v", access.RoleViewer), "alpha", "", false},
		"an operator asks for writes":               {person("o", access.RoleOperator), "alpha", contracts.ClassWriteIrreversible, true},
		"a scoped key reaches its domain":           {scoped, "alpha", contracts.ClassRead, true},
		"a scoped key reaches no other domain":      {scoped, "beta", contracts.ClassRead, false},
		"a scoped key reaches no class but its own": {scoped, "alpha", contracts.ClassWriteReversible, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tt.who.Covers(tt.domain, tt.class); (err == nil) != tt.want {
				t.Errorf("got %v, want allowed %v", err, tt.want)
			}
		})
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	owner := person("ana", access.RoleViewer).Contract()
	gate := contracts.Interrupt{Type: contracts.InterruptWriteApproval, Roles: []string{"approver"}}
	question := contracts.Interrupt{Type: contracts.InterruptClarification}
	viaFrontend := access.Principal{Kind: access.KindFrontend, ID: "chat", Forwarded: "ana", Roles: []access.Role{access.RoleViewer}}
	tests := map[string]struct {
		who                       access.Principal
		run, gate, question, data bool
	}{
		"the owner sees everything but raw data":             {person("ana", access.RoleViewer), true, true, true, false},
		"the owner through a frontend is the same person":    {viaFrontend, true, true, true, false},
		"another viewer sees nothing":                        {person("bo", access.RoleViewer), false, false, false, false},
		"an approver sees the gate only":                     {person("bo", access.RoleApprover), false, true, false, false},
		"an operator sees the run":                           {person("bo", access.RoleOperator), true, true, true, false},
		"an admin sees the raw data too":                     {person("bo", access.RoleAdmin), true, true, true, true},
		"an auditor sees gates and questions":                {person("bo", access.RoleAuditor), false, true, true, false},
		"a requester sees nothing of others":                 {person("bo", access.RoleRequester), false, false, false, false},
		"a service named as the owner is not the owner":      {service("ana", access.RoleViewer), false, false, false, false},
		"a frontend that forwards nobody is not the owner":   {access.Principal{Kind: access.KindFrontend, ID: "ana"}, false, false, false, false},
		"a role of one's own opens nothing that asks others": {person("bo", "recruiter"), false, false, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fmt.Sprint(tt.who.MayReadRun(contracts.Plan{Owner: owner}) == nil, tt.who.MayReadGate(gate, owner) == nil,
				tt.who.MayReadGate(question, owner) == nil, tt.who.May(access.ActionReadData) == nil)
			if want := fmt.Sprint(tt.run, tt.gate, tt.question, tt.data); got != want {
				t.Errorf("run, gate, question, data: got %s, want %s", got, want)
			}
			if steers := tt.who.MaySteerRun(owner) == nil; steers != tt.run {
				t.Errorf("steers %v, want %v", steers, tt.run)
			}
		})
	}
}

func TestMayDecide(t *testing.T) {
	t.Parallel()
	gate := func(change func(*contracts.Interrupt)) contracts.Interrupt {
		i := contracts.Interrupt{
			Type: contracts.InterruptWriteApproval, Roles: []string{"approver"}, FourEyes: true, Quorum: 2,
			Requesters: []string{"ana", "ed"}, ActionSHA256: "h1",
			Action: &contracts.Action{Capability: "alpha.change", Policy: contracts.Policy{SideEffectClass: contracts.ClassWriteReversible}},
			Decisions: []contracts.InterruptDecided{
				{Decision: contracts.DecisionApprove, DecidedBy: "flo", ActionSHA256: "h1"},
				{Decision: contracts.DecisionApprove, DecidedBy: "bo", ActionSHA256: "h0"},
			},
		}
		if change != nil {
			change(&i)
		}
		return i
	}
	plain := gate(func(i *contracts.Interrupt) { i.FourEyes = false })
	scoped := person("bo", access.RoleApprover)
	scoped.Scopes.Domains = []string{"beta"}
	frontend := func(forwarded string) access.Principal {
		return access.Principal{Kind: access.KindFrontend, ID: "chat", Forwarded: forwarded, Vouched: true, Roles: []access.Role{access.RoleApprover}}
	}
	claimed := frontend("bo")
	claimed.Vouched = false
	panel, err := access.NewReviewers(access.NewKeys(accesstest.NewStore(), nil), access.ReviewConfig{}).Panel(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		who      access.Principal
		gate     contracts.Interrupt
		decision contracts.Decision
		want     contracts.Code
	}{
		"another approver approves":                      {person("bo", access.RoleApprover), gate(nil), contracts.DecisionApprove, ""},
		"an operator is no approver":                     {person("bo", access.RoleOperator), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"an admin stands for the default approver":       {person("bo", access.RoleAdmin), gate(nil), contracts.DecisionApprove, ""},
		"the requester is no second pair of eyes":        {person("ana", access.RoleApprover), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"nor is the requester in other letters":          {person("Ana", access.RoleApprover), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"who approved counts once, in any letters":       {person("FLO", access.RoleApprover), gate(nil), contracts.DecisionApprove, contracts.CodeConflict},
		"whoever edited is no second pair of eyes":       {person("ed", access.RoleApprover), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"the requester may reject":                       {person("ana", access.RoleApprover), gate(nil), contracts.DecisionReject, ""},
		"a service has no eyes":                          {service("ci", access.RoleApprover), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"a service approves where two eyes do":           {service("ci", access.RoleApprover), plain, contracts.DecisionApprove, ""},
		"the requester approves where two eyes do":       {person("ana", access.RoleApprover), plain, contracts.DecisionApprove, ""},
		"a person whom a frontend signs approves":        {frontend("bo"), gate(nil), contracts.DecisionApprove, ""},
		"a person whom a frontend claims is no second":   {claimed, gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"a frontend approves nothing by itself":          {frontend(""), plain, contracts.DecisionApprove, contracts.CodeForbidden},
		"the requester does not pass through a frontend": {frontend("ana"), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"a frontend that forwards nobody has no eyes":    {frontend(""), gate(nil), contracts.DecisionApprove, contracts.CodeForbidden},
		"nobody counts twice":                            {person("flo", access.RoleApprover), gate(nil), contracts.DecisionApprove, contracts.CodeConflict},
		"a key for another domain decides nothing here":  {scoped, gate(nil), contracts.DecisionReject, contracts.CodeForbidden},
		"a policy's own role is what it takes": {
			person("bo", "payroll-lead"), gate(func(i *contracts.Interrupt) { i.Roles = []string{"payroll-lead"} }), contracts.DecisionApprove, "",
		},
		"an admin does not stand for a policy's own role": {
			person("bo", access.RoleAdmin, access.RoleApprover), gate(func(i *contracts.Interrupt) { i.Roles = []string{"payroll-lead"} }),
			contracts.DecisionApprove, contracts.CodeForbidden,
		},
		"no role named means an approver": {
			person("bo", access.RoleViewer), gate(func(i *contracts.Interrupt) { i.Roles = nil }), contracts.DecisionApprove, contracts.CodeForbidden,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantCode(t, panel.MayDecide(tt.who, tt.gate, tt.decision), tt.want)
		})
	}
}

func TestStartSessionLimit(t *testing.T) {
	t.Parallel()
	now := start
	l, err := access.NewLimiter(access.LimitConfig{PerMinute: 6, Burst: 2, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := l.AllowSession(access.Principal{Kind: access.KindUser, ID: "ana"}); err != nil {
			t.Fatalf("session %d of a burst of 2: %v", i+1, err)
		}
	}
	err = l.AllowSession(access.Principal{Kind: access.KindUser, ID: "ana"})
	wantCode(t, err, contracts.CodeRateLimited)
	if after := err.(*contracts.Error).Detail; after != (access.RetryAfter{Seconds: 10}) { //nolint:errorlint // the error is not wrapped
		t.Errorf("told to come back after %v, want 10 s", after)
	}
	wantCode(t, l.AllowSession(access.Principal{Kind: access.KindUser, ID: "ana"}), contracts.CodeRateLimited) // a rejected call takes no token
	if err := l.AllowSession(access.Principal{Kind: access.KindUser, ID: "bo"}); err != nil {
		t.Errorf("another caller has a bucket of their own: %v", err)
	}
	now = now.Add(10 * time.Second)
	if err := l.AllowSession(access.Principal{Kind: access.KindUser, ID: "ana"}); err != nil {
		t.Errorf("after the time that was told: %v", err)
	}
}
