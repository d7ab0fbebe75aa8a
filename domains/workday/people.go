package workday

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

const (
	mostHits    = 400 // rows that a search reads
	mostMatches = 25  // matches that a search returns
	mostReports = 50
)

// Whom names one worker, or several for the core to split into one call each.
type Whom struct {
	Worker  string   `json:"worker,omitempty" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the worker"`
	Workers []string `json:"workers,omitempty" min:"1" max:"50" description:"Several workers, by ID or name"`
}

// one returns the single worker, or refuses a call for several.
func (w Whom) one() (string, error) {
	if w.Worker == "" {
		return "", domainkit.Refusef(contracts.ErrInvalidParameters, "one call is for one worker; give worker instead of workers")
	}
	return w.Worker, nil
}

// Profile is the profile of a worker.
type Profile struct {
	Worker       string `json:"worker"`
	Name         string `json:"name"`
	Title        string `json:"title"`
	Organization string `json:"organization"`
	Manager      string `json:"manager_name,omitempty"`
	ManagerID    string `json:"manager,omitempty"`
	Location     string `json:"location,omitempty"`
	Email        string `json:"email,omitempty"`
	IsManager    bool   `json:"is_manager"`
}

// Summary describes the worker.
func (p Profile) Summary() string {
	text := fmt.Sprintf("%s, %s, %s", p.Name, p.Title, p.Organization)
	if p.Manager != "" {
		text += "; manager: " + p.Manager
	}
	return text
}

func (d *domain) getWorker(ctx context.Context, _ domainkit.Call, in Whom) (Profile, error) {
	id, err := in.one()
	if err != nil {
		return Profile{}, err
	}
	w, err := d.worker(ctx, id)
	if err != nil {
		return Profile{}, err
	}
	return d.profile(ctx, w)
}

// profile returns the profile of a worker with their manager.
func (d *domain) profile(ctx context.Context, w rest.Worker) (Profile, error) {
	p := Profile{
		Worker: w.ID, Name: w.Descriptor, Title: w.Title, Organization: w.Organization.Descriptor,
		Location: w.Location.Descriptor, Email: w.Email, IsManager: w.Manager,
	}
	org, err := d.client.Organization(ctx, w.Organization.ID)
	switch {
	case err == nil && org.Manager.ID != w.ID:
		p.Manager, p.ManagerID = org.Manager.Descriptor, org.Manager.ID
	case err != nil && !rest.IsKind(err, rest.KindForbidden) && !rest.IsKind(err, rest.KindNotFound):
		return Profile{}, failure(err) // the rest is useful without this permission
	}
	return p, nil
}

// worker reads the worker of a parameter, or refuses an unknown one.
func (d *domain) worker(ctx context.Context, id string) (rest.Worker, error) {
	w, err := d.people.Worker(ctx, id)
	if rest.IsKind(err, rest.KindNotFound) {
		return w, domainkit.Refusef(contracts.ErrNotFound, "there is no worker with the ID %s", id)
	}
	if err != nil {
		return w, failure(err)
	}
	return w, nil
}

// Query are the parameters of search_workers.
type Query struct {
	Query string `json:"query" min:"1" max:"200" description:"Name or part of it, e-mail address or employee number"`
}

// Match is a worker that a search found.
type Match struct {
	Value        string `json:"value"`
	Label        string `json:"label"`
	Name         string `json:"name"`
	Title        string `json:"title"`
	Organization string `json:"organization"`
	// Exact means that every word of the query is a complete name of the worker, or that the query
	// was an address or number.
	Exact bool `json:"exact"`
}

// Matches are the workers that match a query, likeliest first.
type Matches struct {
	Query   string  `json:"query"`
	Matches []Match `json:"matches"`
	Total   int     `json:"total"`
	// AskerUnknown means that the query is for the requester, whom the tenant does not know.
	AskerUnknown bool `json:"asker_unknown,omitempty"`
}

// Summary lists the first few.
func (m Matches) Summary() string {
	if m.AskerUnknown {
		return "Workday does not know who asks"
	}
	if m.Total == 0 {
		return fmt.Sprintf("nobody fits %q", m.Query)
	}
	var labels []string
	for _, match := range m.Matches[:min(3, len(m.Matches))] {
		labels = append(labels, match.Label)
	}
	text := fmt.Sprintf("%d fit %q: %s", m.Total, m.Query, strings.Join(labels, "; "))
	if m.Total > len(labels) {
		text += "; …"
	}
	return text
}

func (d *domain) searchWorkers(ctx context.Context, call domainkit.Call, in Query) (Matches, error) {
	query := strings.TrimSpace(in.Query)
	if isAsker(query) {
		return d.matchAsker(ctx, call.Principal)
	}
	found, err := d.lookUp(ctx, query)
	if err != nil {
		return Matches{}, failure(err)
	}
	out := Matches{Query: query, Total: len(found)}
	for _, w := range found[:min(len(found), mostMatches)] {
		out.Matches = append(out.Matches, Match{
			Value: w.ID, Label: label(w, found), Name: w.Descriptor, Title: w.Title, Organization: w.Organization.Descriptor, Exact: exactly(query, w),
		})
	}
	return out, nil
}

// matchAsker returns the requester, or no match if the tenant does not know them.
func (d *domain) matchAsker(ctx context.Context, p contracts.Principal) (Matches, error) {
	w, known, err := d.asker(ctx, p)
	if err != nil || !known {
		return Matches{Query: "me", AskerUnknown: err == nil}, err
	}
	match := Match{Value: w.ID, Label: label(w, nil), Name: w.Descriptor, Title: w.Title, Organization: w.Organization.Descriptor, Exact: true}
	return Matches{Query: "me", Total: 1, Matches: []Match{match}}, nil
}

// lookUp searches by address or number if the query looks like one, else by name.
func (d *domain) lookUp(ctx context.Context, query string) ([]rest.Worker, error) {
	var ref string
	switch {
	case strings.Contains(query, "@"):
		staff, err := d.client.FindStaff(ctx, query, mostMatches)
		if err != nil || len(staff.Items) == 0 {
			return nil, err
		}
		ref = staff.Items[0].ID
	case strings.IndexFunc(query, unicode.IsDigit) >= 0 && !strings.Contains(query, " "):
		ref = "Employee_ID=" + query
	default:
		page, err := d.people.SearchWorkers(ctx, query, mostHits)
		return rank(query, page.Items), err
	}
	w, err := d.people.Worker(ctx, ref)
	if rest.IsKind(err, rest.KindNotFound) {
		return nil, nil
	}
	return []rest.Worker{w}, err
}

// exactly reports whether a query identifies this worker: an address or number was looked up
// literally, and every word of a name is one of theirs.
func exactly(query string, w rest.Worker) bool {
	if strings.Contains(query, "@") || strings.IndexFunc(query, unicode.IsDigit) >= 0 {
		return true
	}
	names := strings.Fields(nameOf(w))
	return all(strings.Fields(fold(query)), func(word string) bool { return slices.Contains(names, word) })
}

// label returns a label that distinguishes people: namesakes with the same title and organization
// by their address.
func label(w rest.Worker, all []rest.Worker) string {
	text := fmt.Sprintf("%s, %s, %s", w.Descriptor, w.Title, w.Organization.Descriptor)
	twins := slices.ContainsFunc(all, func(o rest.Worker) bool {
		return o.ID != w.ID && o.Descriptor == w.Descriptor && o.Title == w.Title && o.Organization.ID == w.Organization.ID
	})
	if twins {
		text += ", " + w.Email
	}
	return text
}

// rank returns the best matches among those of Workday, which finds everyone with a name that
// starts with any of the words. It prefers the exact name, then all words as complete names, then
// all words as prefixes. If nobody matches all words, partial matches are returned only if there
// are several: a single one would be chosen without asking, and is probably somebody else.
func rank(query string, found []rest.Worker) []rest.Worker {
	words := strings.Fields(fold(query))
	tiers := make([][]rest.Worker, 4)
	for _, w := range found {
		name := nameOf(w)
		names := strings.Fields(name)
		switch {
		case name == strings.Join(words, " "):
			tiers[0] = append(tiers[0], w)
		case all(words, func(word string) bool { return slices.Contains(names, word) }):
			tiers[1] = append(tiers[1], w)
		case all(words, func(word string) bool { return begins(names, word) }):
			tiers[2] = append(tiers[2], w)
		default:
			tiers[3] = append(tiers[3], w)
		}
	}
	for _, tier := range tiers[:3] {
		if len(tier) > 0 {
			return tier
		}
	}
	if len(tiers[3]) > 1 && len(words) > 1 {
		return tiers[3]
	}
	return nil
}

func all(words []string, is func(string) bool) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !is(w) })
}

func begins(names []string, word string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, word) })
}

// nameOf returns the folded name without Workday's suffixes, such as "[C]" or "(On Leave)".
func nameOf(w rest.Worker) string {
	name := w.Descriptor
	if at := strings.IndexAny(name, "[("); at > 0 {
		name = name[:at]
	}
	return strings.Join(strings.Fields(fold(name)), " ")
}

// fold removes case and accents.
func fold(s string) string {
	plain, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), s)
	if err != nil {
		plain = s
	}
	return strings.ToLower(plain)
}

// Someone names one worker.
type Someone struct {
	Worker string `json:"worker" pattern:"^[0-9a-f]{32}$" description:"Workday ID of the worker"`
}

// DirectReport is a direct report of a worker.
type DirectReport struct {
	Worker       string `json:"worker"`
	Name         string `json:"name"`
	Title        string `json:"title"`
	Organization string `json:"organization"`
}

// Reports are the direct reports of a worker.
type Reports struct {
	Worker  string         `json:"worker"`
	Name    string         `json:"worker_name"`
	Total   int            `json:"total"`
	Reports []DirectReport `json:"reports"`
}

// Summary reports their number.
func (r Reports) Summary() string {
	if r.Total == 0 {
		return r.Name + " has no direct reports"
	}
	text := fmt.Sprintf("%d people report to %s", r.Total, r.Name)
	if r.Total > len(r.Reports) {
		text += fmt.Sprintf("; the first %d are listed", len(r.Reports))
	}
	return text
}

func (d *domain) listDirectReports(ctx context.Context, _ domainkit.Call, in Someone) (Reports, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return Reports{}, err
	}
	page, err := d.client.DirectReports(ctx, in.Worker, mostReports)
	if err != nil {
		return Reports{}, failure(err)
	}
	out := Reports{Worker: w.ID, Name: w.Descriptor, Total: page.Total}
	for _, r := range page.Items {
		out.Reports = append(out.Reports, DirectReport{r.ID, r.Descriptor, r.Title, r.Organization.Descriptor})
	}
	return out, nil
}
