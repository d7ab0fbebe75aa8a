package workday_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// asks calls a capability as a principal.
func (b *bench) asks(who string, roles []string, capability string, parameters object) contracts.ToolResult {
	b.Helper()
	key, err := contracts.Hash([]any{who, capability, parameters})
	if err != nil {
		b.Fatal(err)
	}
	_, out := domaintest.Execute(b, b.url, capability, parameters, object{"principal": object{"id": who, "roles": roles}, "run_id": "r", "node_id": "n", "idempotency_key": key})
	return out
}

// circle is a worker, their manager and an unrelated worker.
type circle struct{ worker, manager, other sandbox.Worker }

func circleOf(b *bench, name string) circle {
	b.Helper()
	c := circle{worker: b.people[name]}
	for _, w := range b.people {
		switch {
		case w.ID == c.worker.ManagerID:
			c.manager = w
		case w.ManagerID != c.worker.ID && w.ID != c.worker.ID && c.other.ID == "":
			c.other = w
		}
	}
	if c.manager.ID == "" || c.other.ID == "" {
		b.Fatalf("the tenant has nobody around %s", name)
	}
	return c
}

func TestWhoMayAskAboutWhom(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	c := circleOf(b, "Ana Souza")
	b.config.Access = workday.Access{All: []string{"hr"}, People: map[string]string{"the-boss": c.manager.ID}}
	b.restart()
	balances := "get_time_off_balances"
	for name, tc := range map[string]struct {
		who        string
		roles      []string
		capability string
		about      string
		refused    bool
	}{
		"a worker about themselves, by number":      {c.worker.EmployeeID, nil, balances, c.worker.ID, false},
		"a worker about somebody else":              {c.other.EmployeeID, nil, balances, c.worker.ID, true},
		"a worker about their manager":              {c.worker.EmployeeID, nil, balances, c.manager.ID, true},
		"a manager about a report":                  {c.manager.EmployeeID, nil, balances, c.worker.ID, false},
		"a manager whom the configuration names":    {"the-boss", nil, balances, c.worker.ID, false},
		"HR about anybody":                          {"whoever", []string{"hr"}, balances, c.worker.ID, false},
		"a role that sounds alike":                  {"whoever", []string{"HR", "hr2"}, balances, c.worker.ID, true},
		"somebody who calls themselves by the name": {"Ana Souza", nil, balances, c.worker.ID, true},
		"nobody":                           {"", nil, balances, c.worker.ID, true},
		"a stranger with a made-up number": {"999999999", nil, balances, c.worker.ID, true},
		"a worker's own days":              {c.worker.EmployeeID, nil, "list_time_off", c.worker.ID, false},
		"somebody else's days":             {c.other.EmployeeID, nil, "list_time_off", c.worker.ID, true},
		"one's own title":                  {c.worker.EmployeeID, nil, "change_business_title", c.worker.ID, true},
		"somebody else's title":            {c.other.EmployeeID, nil, "change_business_title", c.worker.ID, true},
		"the directory is for colleagues":  {c.other.EmployeeID, nil, "get_worker", c.worker.ID, false},
		"and for HR":                       {"whoever", []string{"hr"}, "list_direct_reports", c.manager.ID, false},
		"and not for a stranger":           {"whoever", nil, "get_worker", c.worker.ID, true},
		"nor a manager's team":             {"whoever", []string{"operator"}, "list_direct_reports", c.manager.ID, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parameters := object{"worker": tc.about}
			if tc.capability == "change_business_title" {
				parameters["title"] = "Chief of Everything"
			}
			b := *b
			b.T = t
			out := b.asks(tc.who, tc.roles, tc.capability, parameters)
			if refused := !out.OK; refused != tc.refused {
				t.Fatalf("refused %v, want %v: %+v", refused, tc.refused, out.Error)
			}
			if tc.refused && out.Error.Type != contracts.ErrUnauthorized {
				t.Errorf("refused with %s", out.Error.Type)
			}
		})
	}
}

func TestARefusedWriteReachesNoTenant(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	c := circleOf(b, "Ana Souza")
	b.config.Access = workday.Access{}
	b.restart()
	order := object{"worker": c.worker.ID, "days": 1, "start": "2026-12-07", "absence_type": "vacation"}
	if out := b.asks(c.other.EmployeeID, []string{"operator"}, "request_time_off", order); out.OK || out.Error.Type != contracts.ErrUnauthorized {
		t.Fatalf("somebody else's time off was asked for: %+v", out)
	}
	if out := b.asks(c.worker.EmployeeID, nil, "list_time_off", object{"worker": c.worker.ID, "from": "2026-12-07", "to": "2026-12-07"}); !out.OK || out.Facts["total"] != 0.0 {
		t.Errorf("a refused request left something: %+v", out)
	}
}

func TestMeIsWhoeverAsks(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.Access = workday.Access{}
	b.restart()
	ana := b.people["Ana Souza"]
	out := b.asks(ana.EmployeeID, nil, "search_workers", object{"query": "me"})
	matches, _ := out.Facts["matches"].([]any)
	if len(matches) != 1 || matches[0].(object)["value"] != ana.ID {
		t.Errorf("%+v", out)
	}
	if out := b.asks("Ana Souza", []string{workday.RoleHR}, "search_workers", object{"query": "me"}); !out.OK || out.Facts["total"] != 0.0 || out.Facts[contracts.AskerUnknown] != true {
		t.Errorf("a name is no identity: %+v", out)
	}
	for _, query := range []string{"me", "Ana", "Ana Souza", ana.EmployeeID} {
		if out := b.asks("Ana Souza", []string{"operator"}, "search_workers", object{"query": query}); out.OK || out.Error.Type != contracts.ErrUnauthorized {
			t.Errorf("a stranger was told of %q: %+v", query, out)
		}
	}
}

func TestTheManifestSaysWhoMayAskAboutWhom(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.Access = workday.Access{Reports: []string{"lead"}, All: []string{"operator"}}
	svc, err := workday.New(b.config)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]*contracts.Subject{}
	for _, c := range domaintest.Manifest(t, svc).Capabilities {
		if spec, ok := c.Metadata.ParameterSpecs["worker"]; ok {
			declared[c.Name] = spec.Subject
		}
	}
	own := declared["get_time_off_balances"]
	if own == nil || !slices.Equal(own.Self, []string{"*"}) || !slices.Equal(own.Reports, []string{"lead"}) || !slices.Equal(own.All, []string{"operator"}) {
		t.Errorf("balances declare %+v", own)
	}
	if title := declared["change_business_title"]; title == nil || len(title.Self) != 0 {
		t.Errorf("titles declare %+v", title)
	}
	if declared["get_worker"] != nil {
		t.Error("the directory is about nobody in particular")
	}
}
