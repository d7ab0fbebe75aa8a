package workday

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

const mostPostings = 50

// PostingQuery are the parameters of list_job_postings.
type PostingQuery struct {
	Location string `json:"location,omitempty" max:"100" description:"Only at this place, by a part of its name"`
	Search   string `json:"search,omitempty" max:"100" description:"Only those whose title has this text"`
}

// Posting is a job posting.
type Posting struct {
	Posting  string `json:"posting"`
	Title    string `json:"title"`
	Location string `json:"location,omitempty"`
	TimeType string `json:"time_type,omitempty"`
	Posted   string `json:"posted,omitempty"`
	URL      string `json:"url,omitempty"`
}

// Postings are the open job postings, newest first.
type Postings struct {
	Total    int       `json:"total"`
	Postings []Posting `json:"postings"`
	// Places are the locations with postings, if none matches the query.
	Places []string `json:"places,omitempty"`
}

// Summary reports their number.
func (p Postings) Summary() string {
	switch {
	case p.Total == 0 && len(p.Places) > 0:
		return "no job is posted there; there are postings in " + strings.Join(p.Places, ", ")
	case p.Total == 0:
		return "no job is posted"
	}
	text := amount(float64(p.Total), "job postings")
	if p.Total > len(p.Postings) {
		text += fmt.Sprintf("; the newest %d are listed", len(p.Postings))
	}
	return text
}

// postings lists the jobs that are posted today.
func (o organizations) postings(ctx context.Context, _ domainkit.Call, in PostingQuery) (Postings, error) {
	page, err := o.company().JobPostings(ctx)
	if err != nil {
		return Postings{}, failure(err)
	}
	today := o.d.today().In(o.d.zone).Format("2006-01-02")
	open := slices.DeleteFunc(page.Items, func(p rest.JobPosting) bool { return day(p.Start) > today || p.End != "" && day(p.End) < today })
	slices.SortStableFunc(open, func(a, b rest.JobPosting) int { return strings.Compare(b.Start, a.Start) })
	place, words := fold(strings.TrimSpace(in.Location)), fold(strings.TrimSpace(in.Search))
	var out Postings
	out.Total, out.Postings, _ = listed(open, mostPostings, func(p rest.JobPosting) bool { // formatting a posting never fails
		there := slices.ContainsFunc(append(p.Places(), ""), func(of string) bool { return strings.Contains(fold(of), place) })
		return there && strings.Contains(fold(p.Title), words)
	}, func(p rest.JobPosting) (Posting, error) {
		return Posting{p.ID, cmp.Or(p.Title, p.Descriptor), strings.Join(p.Places(), ", "), p.TimeType.Descriptor, day(p.Start), p.URL}, nil
	})
	if out.Total > 0 {
		return out, nil
	}
	for _, p := range open {
		out.Places = append(out.Places, p.Places()...)
	}
	slices.Sort(out.Places)
	out.Places = slices.Compact(out.Places)
	return out, nil
}

// listed counts the matching items and formats the first ones.
func listed[T, Out any](all []T, most int, fits func(T) bool, show func(T) (Out, error)) (total int, out []Out, err error) {
	out = []Out{}
	for _, one := range all {
		if !fits(one) {
			continue
		}
		if total++; total > most {
			continue
		}
		shown, err := show(one)
		if err != nil {
			return 0, nil, err
		}
		out = append(out, shown)
	}
	return total, out, nil
}

// day returns the date of a timestamp of the tenant.
func day(stamp string) string {
	date, _, _ := strings.Cut(stamp, "T")
	return date
}
