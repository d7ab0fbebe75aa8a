package world

import (
	"fmt"
	"math"
)

// Platform is the monitoring data of the marketplace's software.
type Platform struct {
	Calls       []ToolCall
	Probes      []Probe
	Predictions []Prediction
	Incidents   []Incident
	Tickets     []Ticket
	Features    []Feature
}

// ToolCall is one call in the last 72 hours.
type ToolCall struct {
	Tool     string
	HoursAgo float64
	Ms       int
	OK       bool
}

// Probe is one health check of a source in the last 72 hours.
type Probe struct {
	Source   string
	HoursAgo float64
	Ms       int
	OK       bool
}

// Prediction is the score of a match and whether it led to a hire.
type Prediction struct {
	DaysAgo int
	Score   float64
	Hired   bool
}

// Incident is an incident of the platform.
type Incident struct {
	ID       string `json:"incident"`
	Of       string `json:"of"`
	Severity string `json:"severity"`
	HoursAgo int    `json:"hours_ago"`
	Open     bool   `json:"open"`
	Text     string `json:"text"`
}

// Ticket is a support ticket.
type Ticket struct {
	ID       string `json:"ticket"`
	Topic    string `json:"topic"`
	From     string `json:"from"`
	AgeHours int    `json:"age_hours"`
	Open     bool   `json:"open"`
	Urgent   bool   `json:"urgent"`
}

// Feature is a feature with its use.
type Feature struct {
	Name string `json:"feature"`
	// Weeks are the numbers of accounts that used it in each of the last eight weeks, newest first.
	Weeks [8]int `json:"weeks"`
}

// Tools returns the tools that the platform calls.
func Tools() []string {
	return []string{
		"search_jobs", "match_drivers", "score_match", "parse_licence", "send_sms", "send_email", "get_carrier_profile", "enrich_carrier", "sync_fleet", "import_loads",
	}
}

// Sources returns the external data sources.
func Sources() []string { return []string{"safety", "intel", "market", "road", "ads"} }

func (w *World) platform(d dice) {
	p := &w.Platform
	sick := pick(d, Tools())
	for _, tool := range Tools() {
		usual, fails := d.about(420, 280), 0.012
		if tool == sick {
			fails = 0.17
		}
		for range d.between(90, 160) {
			p.Calls = append(p.Calls, ToolCall{tool, 72 * d.Float64(), int(usual * math.Exp(d.about(0, 1.1))), !d.happens(fails)})
		}
	}
	for _, source := range Sources() {
		usual, fails := d.about(350, 200), d.about(0.02, 0.02)
		for hour := range 72 {
			p.Probes = append(p.Probes, Probe{source, float64(hour), int(usual * math.Exp(d.about(0, 0.8))), !d.happens(fails)})
		}
	}
	for range 400 {
		score := d.Float64()
		// The model's scores are slightly too high.
		p.Predictions = append(p.Predictions, Prediction{d.IntN(60), Round2(score), d.happens(0.1 + 0.75*score)})
	}
	w.troubles(d, sick)
}

func (w *World) troubles(d dice, sick string) {
	p := &w.Platform
	p.Incidents = append(p.Incidents, Incident{"in-01", sick, "major", d.between(3, 40), true, sick + " fails more often than usual"})
	for n := range 6 {
		of := pick(d, append(Tools(), Sources()...))
		p.Incidents = append(p.Incidents, Incident{fmt.Sprintf("in-%02d", n+2), of, pick(d, []string{"minor", "minor", "major"}), d.between(30, 600), d.happens(0.2), of + " was slow"})
	}
	for n := range 60 {
		carrier := pick(d, w.Carriers)
		p.Tickets = append(p.Tickets, Ticket{
			fmt.Sprintf("ti-%03d", n+1), pick(d, []string{"login", "billing", "matching", "imports", "messages", sick}), carrier.Name, d.between(1, 300), d.happens(0.4), d.happens(0.2),
		})
	}
	for _, name := range []string{"saved searches", "video interviews", "fleet sync", "benchmarks", "bulk messages", "referrals", "shift calendar", "exports"} {
		f, level := Feature{Name: name}, d.Float64()*float64(len(w.Carriers))
		for week := range f.Weeks {
			f.Weeks[week] = max(0, min(len(w.Carriers), int(d.about(level, 2.5))))
		}
		p.Features = append(p.Features, f)
	}
}
