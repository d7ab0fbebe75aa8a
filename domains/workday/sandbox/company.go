package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

const (
	minWorkers = 60
	branching  = 6 // reports of an ordinary manager
	bigManager = 7 // the manager whose reports need more than one page
	wideTeam   = 20
	withoutJob = -1
)

// worker is a person in the company.
type worker struct {
	id, number, name     string
	email, phone         string
	title                string
	managerID            string
	orgID                string // the supervisory organisation the worker belongs to
	site                 site
	function             string
	level                int
	contingent, moreJobs bool
	terminated, onLeave  bool
	featured             bool
	key                  string // the folded name, for searching and sorting
}

// descriptor returns the name as Workday displays it, including suffixes.
func (w *worker) descriptor() string {
	switch {
	case w.terminated:
		return w.name + " (Terminated)"
	case w.onLeave:
		return w.name + " (On Leave)"
	case w.contingent:
		return w.name + " [C]"
	}
	return w.name
}

// org is a supervisory organization: a manager and their reports.
type org struct {
	id, name, code string
	managerID      string
	parentID       string
}

type company struct {
	workers []*worker
	byID    map[string]*worker
	orgs    []*org
	orgByID map[string]*org
}

// wid returns the Workday id of the nth object of a kind. It does not depend on the seed, so that
// documents can name ids.
func wid(kind string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", kind, n))
	return hex.EncodeToString(sum[:16])
}

func seedCompany(seed uint64, n int, tenant string) company {
	c := company{byID: map[string]*worker{}, orgByID: map[string]*org{}}
	people := drawPeople(seed, n)
	rng := sandboxkit.NewRand(seed, "company")
	for i := range n {
		w := &worker{
			id: wid("worker", i), number: fmt.Sprint(21000 + i), name: people[i].first + " " + people[i].last,
			phone: fmt.Sprintf("+351 210 %06d", 100000+i*37), level: levelOf(i),
			function: functionOf(i), site: sites()[rng.IntN(len(sites()))],
		}
		w.key = fold(w.name)
		_, w.featured = featured()[i]
		if m := managerOf(i, n); m != withoutJob {
			w.managerID = c.workers[m].id
		}
		w.title = drawTitle(rng.IntN(1000), w)
		c.workers = append(c.workers, w)
		c.byID[w.id] = w
	}
	c.mark(n)
	c.setEmails(tenant)
	c.seedOrgs()
	return c
}

// drawPeople gives every worker a name. Names are unique except for intended namesakes: every 29th
// worker from 116 on.
func drawPeople(seed uint64, n int) []person {
	rng := sandboxkit.NewRand(seed, "names")
	firsts, lasts := firstNames(), lastNames()
	taken := map[person]bool{}
	for _, p := range featured() {
		taken[p] = true
	}
	people := make([]person, n)
	for i := range n {
		p, fixed := featured()[i]
		switch {
		case fixed:
		case i >= 116 && i%29 == 0:
			p = people[i-50]
		default:
			p = drawName(rng.IntN, firsts, lasts, taken)
		}
		people[i] = p
		taken[p] = true
	}
	return people
}

func drawName(draw func(int) int, firsts, lasts []string, taken map[person]bool) person {
	p := person{firsts[draw(len(firsts))], lasts[draw(len(lasts))]}
	for tries := 0; taken[p]; tries++ {
		p = person{firsts[draw(len(firsts))], lasts[draw(len(lasts))]}
		if tries > len(firsts) { // a company larger than the lists: add a middle initial
			p.first += " " + "ABCDEFGHIJKLMNOPRSTVW"[draw(20):][:1] + "."
		}
	}
	return p
}

func managerOf(i, n int) int {
	switch {
	case i == 0:
		return withoutJob
	case n >= 200 && i >= n-wideTeam:
		return bigManager
	default:
		return (i - 1) / branching
	}
}

func levelOf(i int) int {
	level := 0
	for ; i > 0; i = (i - 1) / branching {
		level++
	}
	return level
}

func functionOf(i int) string {
	if i == 0 {
		return "Executive Office"
	}
	for i > branching {
		i = (i - 1) / branching
	}
	return functions()[i-1].name
}

func drawTitle(draw int, w *worker) string {
	switch w.level {
	case 0:
		return "Chief Executive Officer"
	case 1:
		return "Vice President, " + w.function
	case 2:
		return "Director, " + w.function
	}
	titles := []string{"Analyst"}
	for _, f := range functions() {
		if f.name == w.function {
			titles = f.titles
		}
	}
	rank := []string{"", "", "Senior ", "Lead "}[draw%4]
	return rank + titles[draw/4%len(titles)]
}

// mark gives some people special properties. Managers stay ordinary, so that the tree of the
// company has no holes.
func (c *company) mark(n int) {
	for i, w := range c.workers {
		if i <= n/branching || w.featured {
			continue
		}
		switch {
		case i == 150:
			w.onLeave = true
		case i%33 == 32:
			w.terminated = true
		case i%10 == 3:
			w.contingent = true
			w.number = fmt.Sprintf("C-%04d", i)
		case i%50 == 49:
			w.moreJobs = true
		}
	}
}

func (c *company) setEmails(tenant string) {
	used := map[string]int{}
	for i, w := range c.workers {
		if i == 151 {
			continue // without an e-mail address
		}
		local := strings.ReplaceAll(w.key, " ", ".")
		if used[local]++; used[local] > 1 {
			local += fmt.Sprint(used[local])
		}
		w.email = local + "@" + strings.ReplaceAll(tenant, "_", "-") + ".example"
	}
}

func (c *company) seedOrgs() {
	managed := map[string]*org{}
	for _, w := range c.workers {
		if w.managerID == "" {
			continue
		}
		if managed[w.managerID] == nil {
			m := c.byID[w.managerID]
			o := &org{
				id: wid("org", len(c.orgs)), code: fmt.Sprintf("SUP-%03d", len(c.orgs)+1),
				name: fmt.Sprintf("%s (%s)", m.function, m.name), managerID: m.id,
			}
			c.orgs = append(c.orgs, o)
			c.orgByID[o.id] = o
			managed[m.id] = o
		}
		w.orgID = managed[w.managerID].id
	}
	for _, o := range c.orgs {
		if m := c.byID[o.managerID]; m.orgID != "" {
			o.parentID = m.orgID
		} else {
			m.orgID = o.id // the head of the company is in the top organization
		}
	}
}

// find returns the worker of a path: by Workday id, by reference id such as Employee_ID=21044, or
// "me".
func (c *company) find(ref, me string) (*worker, bool) {
	if ref == "me" {
		ref = me
	}
	if kind, number, isRef := strings.Cut(ref, "="); isRef {
		want := kind == "Contingent_Worker_ID"
		i := slices.IndexFunc(c.workers, func(w *worker) bool { return w.number == number && w.contingent == want })
		if i < 0 || (!want && kind != "Employee_ID") {
			return nil, false
		}
		return c.workers[i], true
	}
	w, ok := c.byID[ref]
	return w, ok
}

func (c *company) isManager(id string) bool {
	return slices.ContainsFunc(c.orgs, func(o *org) bool { return o.managerID == id })
}

func (c *company) reports(id string) []*worker {
	var list []*worker
	for _, w := range c.workers {
		if w.managerID == id && !w.terminated {
			list = append(list, w)
		}
	}
	return byName(list)
}

// search searches like Workday: any of the words, ignoring case, is a prefix of a name (or equals
// the worker's number).
func (c *company) search(words string, terminated, numbers bool) []*worker {
	var list []*worker
	for _, w := range c.workers {
		if w.terminated && !terminated {
			continue
		}
		if matches(w, strings.Fields(fold(words)), numbers) {
			list = append(list, w)
		}
	}
	return byName(list)
}

func matches(w *worker, words []string, numbers bool) bool {
	if len(words) == 0 {
		return true
	}
	names := strings.Fields(w.key)
	return slices.ContainsFunc(words, func(word string) bool {
		return (numbers && strings.EqualFold(word, w.number)) ||
			slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) })
	})
}

func byName(list []*worker) []*worker {
	slices.SortFunc(list, func(a, b *worker) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.id, b.id))
	})
	return list
}

// fold removes case and accents.
func fold(s string) string {
	plain, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), s)
	if err != nil {
		plain = s
	}
	return strings.ToLower(plain)
}
