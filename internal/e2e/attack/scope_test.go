package attack_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// only narrows a key to domains.
func only(domains ...string) contracts.KeyScopes { return contracts.KeyScopes{Domains: domains} }

func (s *site) scoped(name string, scopes contracts.KeyScopes, roles ...string) *client.Client {
	s.t.Helper()
	return s.with(s.key(s.root, contracts.KeySpec{Kind: "user", Principal: name, Roles: roles, Scopes: scopes}))
}

func TestScopesNarrowReadingAndSteering(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.register(newVault(t, func(m *contracts.Manifest) { m.Domain = "safe" }))
	alice := s.person("alice", "operator")
	inVault, inSafe := s.asks(alice, "vault.pay", toAlice), s.asks(alice, "safe.pay", toAlice)
	gate := s.gate(inSafe)
	s.gate(inVault)
	session, err := s.root.Run(t.Context(), inSafe, client.Opt{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, who := range map[string]*client.Client{
		"an operator of the vault": s.scoped("oscar", only("vault"), "operator", "approver"),
		"an admin of the vault":    s.scoped("vera", only("vault"), "admin"),
		"alice's key of the vault": s.scoped("alice", only("vault"), "operator"),
	} {
		_, err := who.Run(ctx, inSafe, client.Opt{})
		s.hidden(name+" reads a run", err)
		_, err = who.CancelRun(ctx, inSafe)
		s.hidden(name+" cancels a run", err)
		_, err = who.Ledger(ctx, inSafe)
		s.hidden(name+" reads a ledger", err)
		_, err = who.Gate(ctx, gate.InterruptID)
		s.hidden(name+" reads a gate", err)
		_, err = who.Session(ctx, session.SessionID, client.Opt{})
		s.hidden(name+" reads a session", err)
		_, err = who.Reject(ctx, gate, "", client.Opt{})
		s.hidden(name+" rejects", err)
		if err := who.DeleteSession(ctx, session.SessionID); err == nil {
			t.Errorf("%s deleted a session", name)
		}
		runs, err := who.Runs(ctx, client.RunsFilter{Everybody: name != "alice's key of the vault"})
		if err != nil || len(runs) != 1 || runs[0].RunID != inVault {
			t.Errorf("%s lists the runs %s, %v", name, asJSON(runs), err)
		}
		gates, err := who.Gates(ctx, client.GatesFilter{Status: contracts.InterruptOpen})
		if err != nil || len(gates) != 1 || gates[0].RunID != inVault {
			t.Errorf("%s lists the gates %s, %v", name, asJSON(gates), err)
		}
	}
}

func (s *site) hidden(what string, err error) {
	s.t.Helper()
	if contracts.CodeOf(err) != contracts.CodeNotFound {
		s.t.Errorf("%s: %v, want not_found", what, err)
	}
}

func (s *site) forbidden(what string, err error) {
	s.t.Helper()
	if contracts.CodeOf(err) != contracts.CodeForbidden {
		s.t.Errorf("%s: %v, want forbidden", what, err)
	}
}

func TestAnAdminOfAScopeAdministersNothingElse(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := newVault(t, func(m *contracts.Manifest) { m.Domain = "safe" })
	s.register(other)
	s.person("otto", "approver")
	vera := s.scoped("vera", only("vault"), "admin")
	ctx := t.Context()
	_, err := vera.RefreshDomain(ctx, "safe")
	s.forbidden("refresh another domain", err)
	s.forbidden("unregister another domain", vera.UnregisterDomain(ctx, "safe"))
	_, err = vera.RegisterDomain(ctx, contracts.Registration{Domain: "evil", URL: other.url})
	s.forbidden("register a domain", err)
	_, err = vera.AuditVerify(ctx, "")
	s.forbidden("verify all ledgers", err)
	_, err = vera.WebhookKey(ctx)
	s.forbidden("read the webhook key", err)
	_, err = vera.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: "mole", Roles: []string{"admin"}})
	s.forbidden("make a key without scopes", err)
	keys, err := vera.Keys(ctx)
	if err != nil || len(keys) != 1 || keys[0].Principal != "vera" {
		t.Errorf("she lists the keys %s, %v", asJSON(keys), err)
	}
	all, err := s.root.Keys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if k.Principal != "vera" {
			s.hidden("revoke the key of "+k.Principal, vera.RevokeKey(ctx, k.ID))
		}
	}
	if _, err := vera.RefreshDomain(ctx, "vault"); err != nil {
		t.Errorf("she may not refresh her own domain: %v", err)
	}
	if _, err := vera.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: "mila", Roles: []string{"operator"}, Scopes: only("vault")}); err != nil {
		t.Errorf("she may not make a key within her scope: %v", err)
	}
}

func TestARequesterHasOwnRunsOnlyAndAnAuditorReadsOnly(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, rick, audrey, otto := s.person("alice", "operator"), s.person("rick", "requester"), s.person("audrey", "auditor"), s.person("otto", "approver")
	ctx := t.Context()
	of := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(of)
	own := s.asks(rick, "vault.pay", toAlice) // a requester may ask for writes
	s.approves(otto, s.gate(own))
	s.ended(own)
	_, err := rick.Run(ctx, of, client.Opt{})
	s.hidden("a requester reads another's run", err)
	_, err = rick.CancelRun(ctx, of)
	s.hidden("a requester cancels another's run", err)
	_, err = rick.Runs(ctx, client.RunsFilter{Everybody: true})
	s.forbidden("a requester lists all runs", err)
	_, err = rick.AuditVerify(ctx, own)
	s.forbidden("a requester verifies", err)
	if _, err := rick.Run(ctx, own, client.Opt{}); err != nil {
		t.Errorf("a requester does not read his own run: %v", err)
	}

	if entries, err := audrey.Ledger(ctx, of); err != nil || len(entries) == 0 {
		t.Errorf("an auditor reads no ledger: %v", err)
	}
	if report, err := audrey.AuditVerify(ctx, ""); err != nil || !report.OK {
		t.Errorf("an auditor verifies nothing: %v", err)
	}
	if shown, err := audrey.Gate(ctx, gate.InterruptID); err != nil || shown.Action == nil {
		t.Errorf("an auditor sees no gate: %v", err)
	}
	if gates, err := audrey.Gates(ctx, client.GatesFilter{}); err != nil || len(gates) != 2 {
		t.Errorf("an auditor lists %d gates, %v", len(gates), err)
	}
	_, err = audrey.Approve(ctx, gate, "", client.Opt{})
	s.forbidden("an auditor approves", err)
	_, err = audrey.Reject(ctx, gate, "", client.Opt{})
	s.forbidden("an auditor rejects", err)
	_, err = audrey.Run(ctx, of, client.Opt{})
	s.hidden("an auditor reads a run", err)
	_, err = audrey.CancelRun(ctx, of)
	s.hidden("an auditor cancels", err)
	_, err = audrey.StartSession(ctx, contracts.StartSession{Message: "hello"}, client.Opt{})
	s.forbidden("an auditor asks", err)
	_, err = audrey.Keys(ctx)
	s.forbidden("an auditor lists keys", err)
	_, err = audrey.Locks(ctx)
	s.forbidden("an auditor lists locks", err)
}

func TestADomainsAdminIsNotManifolds(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newVault(t, func(m *contracts.Manifest) {
		m.Domain = "logistics"
		for i := range m.Capabilities {
			if m.Capabilities[i].Name == "pay" {
				m.Capabilities[i].Metadata.AllowedRoles = []string{"admin"}
				m.Capabilities[i].Metadata.Approval = &contracts.ApprovalRule{Roles: []string{"admin"}}
			}
		}
	})
	s.register(v)
	ctx := t.Context()
	_, err := s.tries(s.root, "logistics.pay", toAlice)
	s.forbidden("Manifold's admin uses what is for a domain's", err)
	lena, liam := s.person("lena", "operator", "logistics:admin"), s.person("liam", "viewer", "logistics:admin")
	stranger := s.person("stan", "operator", "freight:admin")
	_, err = s.tries(stranger, "logistics.pay", toAlice)
	s.forbidden("another domain's admin uses it", err)
	run := s.asks(lena, "logistics.pay", toAlice)
	gate := s.gate(run)
	s.mayNot(s.root, gate, "Manifold's admin", "logistics:admin")
	s.approves(liam, gate)
	s.ended(run)
	if got := v.record(); len(got) != 1 || !slices.Contains(got[0].Roles, "admin") {
		t.Errorf("the domain does not know its admin: %+v", got)
	}
	_, err = lena.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: "mole", Roles: []string{"admin"}})
	s.forbidden("a domain's admin makes keys", err)
	_, err = lena.RefreshDomain(ctx, "logistics")
	s.forbidden("a domain's admin refreshes", err)
	boss := s.person("boss", "admin", "operator")
	free := s.asks(boss, "logistics.note", toAlice)
	s.approves(s.root, s.gate(free))
	s.ended(free)
	if got := v.record(); len(got) != 2 || slices.Contains(got[1].Roles, "admin") {
		t.Errorf("the domain takes Manifold's admin for its own: %+v", got)
	}
}

func TestAReadThatIsNamedLikeAWriteWaitsForAnAdmin(t *testing.T) {
	t.Parallel()
	s := open(t)
	sly := newVault(t, func(m *contracts.Manifest) {
		m.Domain = "sly"
		m.Capabilities = m.Capabilities[:2]
		m.Capabilities[1].Name = "delete_everything"
	})
	report, err := s.root.RegisterDomain(t.Context(), contracts.Registration{Domain: "sly", URL: sly.url})
	if err != nil || report.Outcome != contracts.DomainPending {
		t.Fatalf("it is %s, %v", report.Outcome, err)
	}
	if _, err := s.tries(s.root, "sly.delete_everything", map[string]any{}); err == nil {
		t.Error("it can be used before anybody has confirmed it")
	}
	if len(sly.record()) != 0 {
		t.Errorf("it ran: %+v", sly.record())
	}
	if report, err = s.root.ConfirmDomain(t.Context(), "sly", report.Digest); err != nil || report.Outcome != contracts.DomainActive {
		t.Errorf("an admin cannot confirm it: %s, %v", report.Outcome, err)
	}
}
