package world

import (
	"fmt"
	"slices"
)

// Campaign is an advertising campaign for drivers.
type Campaign struct {
	ID          string `json:"campaign"`
	Name        string `json:"name"`
	Platform    string `json:"platform"`
	Region      string `json:"region"`
	State       string `json:"state"`
	DailyBudget int    `json:"daily_budget"`
	Days        int    `json:"days"`
	Spend       int    `json:"spend"`
	Impressions int    `json:"impressions"`
	Clicks      int    `json:"clicks"`
	// Audience and Category are checked by the rules for job advertising.
	Audience string `json:"audience"`
	Category string `json:"category"`
	// Text is the text of the advertisement.
	Text string `json:"text"`
}

// Candidate is a driver who looks for work.
type Candidate struct {
	ID     string `json:"candidate"`
	Name   string `json:"name"`
	Region string `json:"region"`
	Years  int    `json:"years"`
	// Endorsements of the licence, for example hazmat.
	Endorsements []string `json:"endorsements"`
	// Wants is the desired pay in cents per mile.
	Wants      int    `json:"wants_cents_per_mile"`
	Violations int    `json:"violations"`
	Stage      string `json:"stage"`
	Campaign   string `json:"campaign"`
	// ContactedDaysAgo is -1 if the candidate was never contacted.
	ContactedDaysAgo int `json:"contacted_days_ago"`
	// TasksDone is the number of completed onboarding tasks.
	TasksDone int `json:"tasks_done"`
}

// Stages returns the stages of a candidate.
func Stages() []string {
	return []string{"lead", "contacted", "applied", "interviewed", "onboarding", "hired", "lost"}
}

// Tasks returns the onboarding tasks.
func Tasks() []string {
	return []string{"licence copied", "medical card copied", "drug test", "road test", "orientation", "truck assigned"}
}

// Platforms returns the advertising platforms.
func Platforms() []string { return []string{"Meta", "Google", "TikTok", "Indeed"} }

func (w *World) recruiting(d dice) {
	for i := range 14 {
		w.Campaigns = append(w.Campaigns, campaign(d, i))
	}
	for n := range 320 {
		w.Candidates = append(w.Candidates, w.candidate(d, n+1))
	}
}

func campaign(d dice, i int) Campaign {
	region, platform := Regions()[i%len(Regions())], Platforms()[i%len(Platforms())]
	c := Campaign{
		ID: fmt.Sprintf("cp-%02d", i+1), Name: region + " drivers " + platform, Platform: platform, Region: region,
		State: pick(d, []string{"running", "running", "running", "paused"}), DailyBudget: 10 * d.between(4, 22), Days: d.between(9, 28),
		Audience: pick(d, []string{"everybody", "everybody", "everybody", "age 25 to 45"}),
		Category: pick(d, []string{"employment", "employment", "none"}),
		Text:     pick(d, []string{"Home every weekend. Apply in two minutes.", "Earn more per mile, guaranteed.", "New trucks, honest miles.", "Sign-on bonus for hazmat drivers."}),
	}
	c.Spend = int(float64(c.DailyBudget*c.Days) * d.about(0.97, 0.15))
	c.Impressions = c.Spend * d.between(60, 140)
	c.Clicks = c.Impressions * d.between(6, 22) / 1000
	return c
}

func (w *World) candidate(d dice, n int) Candidate {
	from := pick(d, w.Campaigns)
	c := Candidate{
		ID: fmt.Sprintf("ca-%03d", n), Name: pick(d, firstNames()) + " " + pick(d, lastNames()), Region: from.Region, Years: d.between(0, 24),
		Wants: int(d.about(58, 9)), Violations: max(0, int(d.about(0.7, 2.2))), Campaign: from.ID, ContactedDaysAgo: -1,
		Stage: pick(d, []string{"lead", "lead", "lead", "lead", "contacted", "contacted", "applied", "applied", "interviewed", "onboarding", "hired", "lost"}),
	}
	for _, e := range []string{"hazmat", "tanker", "doubles"} {
		if d.happens(0.35) {
			c.Endorsements = append(c.Endorsements, e)
		}
	}
	if c.Stage != "lead" {
		c.ContactedDaysAgo = d.between(1, 40)
	}
	if c.Stage == "onboarding" {
		c.TasksDone = d.IntN(len(Tasks()))
	}
	return c
}

// FindCandidate returns a candidate by id.
func (w *World) FindCandidate(id string) (*Candidate, bool) {
	for i := range w.Candidates {
		if w.Candidates[i].ID == id {
			return &w.Candidates[i], true
		}
	}
	return nil, false
}

// FindCampaign returns a campaign by id or name.
func (w *World) FindCampaign(query string) (*Campaign, bool) {
	for i := range w.Campaigns {
		if c := &w.Campaigns[i]; c.ID == Fold(query) || Fold(c.Name) == Fold(query) {
			return c, true
		}
	}
	return nil, false
}

// Reached reports whether a stage is at or after another one. Lost candidates have reached
// "contacted".
func Reached(stage, other string) bool {
	if stage == "lost" {
		return slices.Index(Stages(), other) <= 1
	}
	return slices.Index(Stages(), stage) >= slices.Index(Stages(), other)
}
