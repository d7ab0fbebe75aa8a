package sandbox

import (
	"fmt"
	"time"
)

// recruitingRoutes are the routes of the recruiting service.
func (p *people) recruitingRoutes(on func(pattern string, h handler)) {
	on("GET /jobPostings", func(c *call) (reply, error) {
		return paged(c, p.postings(), func(job map[string]any) any { return job })
	})
	on("GET /jobPostings/{id}", func(c *call) (reply, error) {
		for _, job := range p.postings() {
			if job["id"] == c.path("id") {
				return ok(job)
			}
		}
		return reply{}, notFound()
	})
}

const jobsPosted = 40

// postings returns forty jobs across all functions and sites. The last two start later or have
// ended.
func (p *people) postings() []map[string]any {
	out := make([]map[string]any, 0, jobsPosted)
	for i := range jobsPosted {
		f, at := functions()[i%len(functions())], sites()[i%len(sites())]
		title := []string{"", "Senior ", "Lead "}[i%3] + f.titles[i/len(functions())%len(f.titles)]
		start, until := p.now().AddDate(0, 0, -i), p.now().AddDate(0, 1, 0)
		switch i {
		case jobsPosted - 2:
			start = p.now().AddDate(0, 0, 7)
		case jobsPosted - 1:
			until = p.now().AddDate(0, 0, -1)
		}
		id := wid("posting", i)
		job := map[string]any{
			"id": id, "descriptor": title, "title": title, "primaryLocation": siteRef(at), "additionalLocations": []any{},
			"timeType":  ref{ID: digest("timeType", "Full time"), Descriptor: "Full time"},
			"startDate": start.Format(time.DateOnly) + "T00:00:00.000Z", "endDate": until.Format(time.DateOnly) + "T00:00:00.000Z",
			"spotlightJob": false, "url": fmt.Sprintf("https://jobs.example.com/%s", id[:8]),
		}
		if i%8 == 7 {
			job["additionalLocations"] = []any{siteRef(sites()[(i+1)%len(sites())])}
		}
		out = append(out, job)
	}
	return out
}
