package workday_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestTheChartIsTheTreeOfTheCompany: everybody below a worker comes after their manager, down to
// the requested depth.
func TestTheChartIsTheTreeOfTheCompany(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	helena := b.people["Helena Duarte"]
	names, below := map[string]string{}, map[string]int{}
	for _, w := range b.tenant.People() {
		names[w.ID] = w.Name
	}
	for depth := 1; depth <= 4; depth++ {
		level := map[string]int{helena.ID: 0}
		for _, w := range b.tenant.People() { // managers come before their reports
			if at, is := level[w.ManagerID]; is && at < depth && !w.Terminated {
				level[w.ID] = at + 1
			}
		}
		got := b.facts("get_org_chart", object{"worker": helena.ID, "depth": depth}, "")
		if got["total"] != float64(len(level)-1) || got["complete"] != true {
			t.Errorf("depth %d: %v of %d", depth, got["total"], len(level)-1)
		}
		below[fmt.Sprint(got["total"])]++
	}
	if len(below) < 2 {
		t.Errorf("each depth gives the same: %v", below)
	}
	top := b.tenant.People()[0]
	whole := b.execute("get_org_chart", object{"worker": top.ID}, "")
	var people []object
	if err := contracts.Decode(whole.Artifacts["people"], &people); err != nil {
		t.Fatal(err)
	}
	shown, _ := whole.Facts["people"].([]any)
	if !strings.Contains(whole.Summary, "the first 100 are listed") || len(people) < 250 || len(shown) != 100 {
		t.Errorf("%s: %d read, %d shown", whole.Summary, len(people), len(shown))
	}
	if got := b.execute("get_org_chart", object{"worker": b.id("Ana Souza")}, ""); got.Summary != "nobody reports to Ana Souza" {
		t.Errorf("%s", got.Summary)
	}
}

func TestTheChainOfManagersEndsAtTheHead(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	byID, want := map[string]sandbox.Worker{}, []string{}
	for _, w := range b.tenant.People() {
		byID[w.ID] = w
	}
	for w := byID[b.people["Ana Souza"].ManagerID]; w.ID != ""; w = byID[w.ManagerID] {
		want = append(want, w.Name)
	}
	got := b.execute("list_managers", object{"worker": b.id("Ana Souza")}, "")
	if names := column(got.Facts["managers"], "name"); !slices.Equal(names, want) || !strings.HasPrefix(got.Summary, "above Ana Souza: Helena Duarte, then ") {
		t.Errorf("%v, want %v: %s", names, want, got.Summary)
	}
	if got := b.execute("list_managers", object{"worker": b.tenant.People()[0].ID}, ""); got.Facts["total"] != 0.0 {
		t.Errorf("above the head: %v", got.Facts)
	}
}

func TestOrganizationsAreFoundByNameAndShown(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	found := b.facts("list_organizations", object{"search": "helena duarte"}, "")
	ids := column(found["organizations"], "value")
	if len(ids) != 1 || column(found["organizations"], "manager_name")[0] != "Helena Duarte" {
		t.Fatalf("%v", found)
	}
	got := b.execute("get_organization", object{"organization": ids[0]}, "")
	if !got.OK || got.Facts["manager_name"] != "Helena Duarte" || !slices.Contains(column(got.Facts["members"], "name"), "Ana Souza") {
		t.Errorf("%s %v", got.Summary, got.Error)
	}
	if got := b.execute("get_organization", object{"organization": strings.Repeat("0", 32)}, ""); got.OK || got.Error.Type != contracts.ErrNotFound {
		t.Errorf("none: %+v", got)
	}
	if got := b.facts("list_organizations", object{}, ""); got["total"].(float64) < 40 {
		t.Errorf("all: %v", got["total"])
	}
}

// TestWhoAsksIsToldOfThemselves only: an unknown requester is told that Workday does not know them.
func TestWhoAsksIsToldOfThemselves(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.Access = workday.Access{All: []string{"hr"}, People: map[string]string{"rita": b.id("Jonas Keller")}}
	b.restart()
	if got := b.asks("rita", nil, "get_my_info", object{}); got.Facts["name"] != "Jonas Keller" || got.Facts["manager_name"] == "" {
		t.Errorf("%+v", got)
	}
	if got := b.asks("a stranger", []string{"hr"}, "get_my_info", object{}); got.OK || got.Error.Type != contracts.ErrNotFound || !strings.Contains(got.Error.Message, `does not know who "a stranger" is`) {
		t.Errorf("%+v", got.Error)
	}
	for _, capability := range []string{"list_organizations", "list_job_postings"} {
		if got := b.asks("a stranger", nil, capability, object{}); got.OK || got.Error.Type != contracts.ErrUnauthorized {
			t.Errorf("%s for a stranger: %+v", capability, got)
		}
	}
}

// TestJobsThatArePostedToday: without future and expired postings.
func TestJobsThatArePostedToday(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	if all := b.facts("list_job_postings", object{}, ""); all["total"] != 38.0 || column(all["postings"], "posted")[0] != "2026-11-02" {
		t.Errorf("%v, the first of %v", all["total"], column(all["postings"], "posted")[0])
	}
	here := b.facts("list_job_postings", object{"location": "lisb"}, "")
	for _, place := range column(here["postings"], "location") {
		if !strings.Contains(place, "Lisbon") {
			t.Errorf("in %s", place)
		}
	}
	two := b.facts("list_job_postings", object{"location": "São Paulo", "search": "engineer"}, "")
	for _, title := range column(two["postings"], "title") {
		if !strings.Contains(title, "Engineer") {
			t.Errorf("%s", title)
		}
	}
	if total := two["total"].(float64); total < 1 || total >= here["total"].(float64) {
		t.Errorf("%v of %v", two["total"], here["total"])
	}
	if none := b.execute("list_job_postings", object{"location": "Atlantis"}, ""); none.Summary != "no job is posted there; there are postings in Austin, Berlin, Lisbon, Singapore, São Paulo" {
		t.Errorf("%s", none.Summary)
	}
}
