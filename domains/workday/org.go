package workday

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

const (
	mostInChart  = 500 // people that a chart reads
	shownInChart = 100 // people in its facts
	mostMembers  = 100
	mostOrgs     = 60
	mostManagers = 15 // a longer chain is a cycle
)

// organizations are the reads about people and organizations: profiles, managers, reports and
// organizations.
type organizations struct{ d *domain }

func (o organizations) register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "get_my_info"}, o.myInfo),
		domainkit.Add(svc, domainkit.Capability{Name: "get_org_chart"}, withEmployee(o.d, o.chart)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_managers"}, withEmployee(o.d, o.managers)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_organizations"}, withEmployee(o.d, o.list)),
		domainkit.Add(svc, domainkit.Capability{Name: "get_organization"}, withEmployee(o.d, o.get)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_job_postings"}, withEmployee(o.d, o.postings)),
	)
}

func (o organizations) company() rest.Company { return rest.NewCompany(o.d.client) }

// Nothing are the parameters of a capability without parameters.
type Nothing struct{}

// myInfo returns the requester's own profile.
func (o organizations) myInfo(ctx context.Context, call domainkit.Call, _ Nothing) (Profile, error) {
	me, err := myself(ctx, o.d, call.Principal)
	if err != nil {
		return Profile{}, err
	}
	return o.d.profile(ctx, me)
}

// myself returns the requester's worker, for calls about the requester only.
func myself(ctx context.Context, d *domain, asker contracts.Principal) (rest.Worker, error) {
	me, known, err := d.asker(ctx, asker)
	if err == nil && !known {
		err = domainkit.Refusef(contracts.ErrNotFound, "Workday does not know who %q is", asker.Subject())
	}
	return me, err
}

// ChartQuery are the parameters of get_org_chart.
type ChartQuery struct {
	Someone
	Depth int `json:"depth" default:"4" min:"1" max:"4" description:"How many levels below the worker"`
}

// ChartPerson is one person in a chart.
type ChartPerson struct {
	Level   int    `json:"level"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Manager string `json:"manager_name"`
}

// Chart lists the people below a worker, each after their manager.
type Chart struct {
	Worker string `json:"worker"`
	Name   string `json:"worker_name"`
	Total  int    `json:"total"`
	Levels int    `json:"levels"`
	// Complete is false if there are more people than were read.
	Complete bool `json:"complete"`
	// People are the first people; the artifact "people" has all that were read.
	People []ChartPerson `json:"people"`
}

// Summary reports the number of people and levels.
func (c Chart) Summary() string {
	if c.Total == 0 {
		return "nobody reports to " + c.Name
	}
	text := fmt.Sprintf("%s in %s below %s", amount(float64(c.Total), "people"), amount(float64(c.Levels), "levels"), c.Name)
	switch {
	case !c.Complete:
		text += fmt.Sprintf("; there are more, of whom no more than %d are read", mostInChart)
	case c.Total > len(c.People):
		text += fmt.Sprintf("; the first %d are listed", len(c.People))
	}
	return text
}

// chart reads the reports of a worker, recursively.
func (o organizations) chart(ctx context.Context, _ domainkit.Call, in ChartQuery) (domainkit.Result[Chart], error) {
	var none domainkit.Result[Chart]
	top, err := o.d.worker(ctx, in.Worker)
	if err != nil {
		return none, err
	}
	out, people := Chart{Worker: top.ID, Name: top.Descriptor, Complete: true}, []ChartPerson{}
	var below func(manager rest.Worker, level int) error
	below = func(manager rest.Worker, level int) error {
		if !manager.Manager || level > in.Depth {
			return nil
		}
		page, err := o.d.client.DirectReports(ctx, manager.ID, mostInChart)
		if err != nil {
			return failure(err)
		}
		for _, w := range page.Items {
			if len(people) == mostInChart {
				out.Complete = false
				return nil
			}
			people = append(people, ChartPerson{level, w.Descriptor, w.Title, manager.Descriptor})
			out.Levels = max(out.Levels, level)
			if err := below(w, level+1); err != nil {
				return err
			}
		}
		out.Complete = out.Complete && page.Total <= len(page.Items)
		return nil
	}
	if err := below(top, 1); err != nil {
		return none, err
	}
	out.Total, out.People = len(people), people[:min(len(people), shownInChart)]
	return domainkit.Result[Chart]{Facts: out, Artifacts: map[string]any{"people": people}}, nil
}

// ChainManager is one manager in a chain.
type ChainManager struct {
	Level        int    `json:"level"`
	Worker       string `json:"worker"`
	Name         string `json:"name"`
	Title        string `json:"title"`
	Organization string `json:"organization"`
}

// Chain lists the managers above a worker, nearest first.
type Chain struct {
	Worker   string         `json:"worker"`
	Name     string         `json:"worker_name"`
	Total    int            `json:"total"`
	Managers []ChainManager `json:"managers"`
}

// Summary lists their names.
func (c Chain) Summary() string {
	if c.Total == 0 {
		return "nobody is above " + c.Name
	}
	names := make([]string, 0, c.Total)
	for _, m := range c.Managers {
		names = append(names, m.Name)
	}
	return fmt.Sprintf("above %s: %s", c.Name, strings.Join(names, ", then "))
}

// managers follows the managers of a worker to the top.
func (o organizations) managers(ctx context.Context, _ domainkit.Call, in Someone) (Chain, error) {
	w, err := o.d.worker(ctx, in.Worker)
	if err != nil {
		return Chain{}, err
	}
	out := Chain{Worker: w.ID, Name: w.Descriptor, Managers: []ChainManager{}}
	for len(out.Managers) < mostManagers {
		org, err := o.d.client.Organization(ctx, w.Organization.ID)
		if err != nil {
			return Chain{}, failure(err)
		}
		if org.Manager.ID == "" || org.Manager.ID == w.ID {
			break
		}
		if w, err = o.d.worker(ctx, org.Manager.ID); err != nil {
			return Chain{}, err
		}
		out.Managers = append(out.Managers, ChainManager{len(out.Managers) + 1, w.ID, w.Descriptor, w.Title, w.Organization.Descriptor})
	}
	out.Total = len(out.Managers)
	return out, nil
}

// OrganizationMatch is an organization that a search found.
type OrganizationMatch struct {
	Value   string `json:"value"`
	Label   string `json:"label"`
	Name    string `json:"name"`
	Manager string `json:"manager_name,omitempty"`
	// Exact means that the name equals the search text.
	Exact bool `json:"exact"`
}

// Organizations are the supervisory organizations of the tenant.
type Organizations struct {
	Total         int                 `json:"total"`
	Organizations []OrganizationMatch `json:"organizations"`
}

// Summary reports their number.
func (o Organizations) Summary() string {
	text := amount(float64(o.Total), "organizations")
	if o.Total > len(o.Organizations) {
		text += fmt.Sprintf("; the first %d are listed, a search narrows the list", len(o.Organizations))
	}
	return text
}

// list returns the organizations whose name contains a text.
func (o organizations) list(ctx context.Context, _ domainkit.Call, in Filter) (Organizations, error) {
	page, err := o.company().Organizations(ctx)
	if err != nil {
		return Organizations{}, failure(err)
	}
	wanted := fold(strings.TrimSpace(in.Search))
	var out Organizations
	out.Total, out.Organizations, err = listed(page.Items, mostOrgs, func(org rest.Organization) bool {
		return strings.Contains(fold(cmp.Or(org.Name, org.Descriptor)), wanted)
	},
		func(org rest.Organization) (OrganizationMatch, error) {
			name := cmp.Or(org.Name, org.Descriptor)
			return OrganizationMatch{Value: org.ID, Label: name, Name: name, Manager: org.Manager.Descriptor, Exact: fold(name) == wanted}, nil
		})
	return out, err
}

// OrganizationQuery are the parameters of get_organization.
type OrganizationQuery struct {
	Organization string `json:"organization" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the organization"`
}

// Member is a member of an organization.
type Member struct {
	Worker string `json:"worker"`
	Name   string `json:"name"`
	Title  string `json:"title"`
}

// OrganizationProfile describes an organization and its members.
type OrganizationProfile struct {
	Organization string   `json:"organization"`
	Name         string   `json:"name"`
	Manager      string   `json:"manager_name,omitempty"`
	Total        int      `json:"total"`
	Members      []Member `json:"members"`
}

// Summary reports the manager and the number of members.
func (p OrganizationProfile) Summary() string {
	text := fmt.Sprintf("%s: %s", p.Name, amount(float64(p.Total), "members"))
	if p.Manager != "" {
		text += ", led by " + p.Manager
	}
	return text
}

// get returns an organization with its members.
func (o organizations) get(ctx context.Context, _ domainkit.Call, in OrganizationQuery) (OrganizationProfile, error) {
	org, err := o.find(ctx, in.Organization)
	if err != nil {
		return OrganizationProfile{}, err
	}
	page, err := o.company().Members(ctx, org.ID, mostMembers)
	if err != nil {
		return OrganizationProfile{}, failure(err)
	}
	out := OrganizationProfile{
		Organization: org.ID, Name: cmp.Or(org.Name, org.Descriptor), Manager: org.Manager.Descriptor, Total: page.Total, Members: []Member{},
	}
	for _, w := range page.Items {
		out.Members = append(out.Members, Member{w.ID, w.Descriptor, w.Title})
	}
	return out, nil
}

// find reads the organization of a parameter, or refuses an unknown one.
func (o organizations) find(ctx context.Context, id string) (rest.Organization, error) {
	org, err := o.d.client.Organization(ctx, id)
	if rest.IsKind(err, rest.KindNotFound) {
		return org, domainkit.Refusef(contracts.ErrNotFound, "there is no organization with the ID %s", id)
	}
	if err != nil {
		return org, failure(err)
	}
	return org, nil
}
