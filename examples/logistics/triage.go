package logistics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// signs is the evidence for a triage; unavailable parts are absent.
type signs struct {
	Tracing   *tracing         `json:"tracing,omitempty"`
	Tools     []toolUse        `json:"tools,omitempty"`
	Scoring   *accuracy        `json:"scoring,omitempty"`
	Health    []health         `json:"health,omitempty"`
	Incidents []world.Incident `json:"incidents,omitempty"`
	Tickets   []waiting        `json:"tickets,omitempty"`
	Campaigns []finding        `json:"campaigns,omitempty"`
}

// diagnosis is a problem with its evidence and its fix.
type diagnosis struct {
	What     string `json:"what"`
	Severity int    `json:"severity"`
	Evidence string `json:"evidence"`
	Proposal string `json:"proposal"`
}

// Thresholds of findings.
const (
	manyErrors  = 5.0  // percent of the calls of a tool
	seldomUp    = 95.0 // percent of the health checks of a source
	muchDrift   = -5.0 // points of accuracy
	manyTickets = 5    // open tickets about one topic
)

// rankFindings returns the problems with their evidence, most severe first.
func rankFindings(_ domainkit.Call, in signs) (ranking[diagnosis], error) {
	out := ranking[diagnosis]{Rows: []diagnosis{}, Options: []option{}, Missing: in.missing(), Contradictions: []string{}}
	out.Rows = append(append(append(out.Rows, in.tools()...), in.sources()...), in.people()...)
	slices.SortStableFunc(out.Rows, func(a, b diagnosis) int { return cmp.Compare(b.Severity, a.Severity) })
	for _, r := range out.Rows {
		out.Options = append(out.Options, option{r.What, r.Evidence + ": " + r.Proposal})
	}
	if len(out.Rows) == 0 {
		out.Options = []option{{"nothing", "no figure is out of bounds"}}
	}
	out.line = fmt.Sprintf("%d findings", len(out.Rows))
	if in.Tracing != nil {
		out.line += "; " + in.Tracing.Summary()
	}
	return out, nil
}

func (in *signs) missing() []string {
	out := []string{}
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"tracing", in.Tracing != nil},
		{"tools", len(in.Tools) > 0},
		{"scoring", in.Scoring != nil},
		{"health", len(in.Health) > 0},
		{"incidents", in.Incidents != nil},
		{"tickets", in.Tickets != nil},
		{"campaigns", in.Campaigns != nil},
	} {
		if !part.there {
			out = append(out, part.name)
		}
	}
	return out
}

func (in *signs) tools() []diagnosis {
	var out []diagnosis
	for _, t := range in.Tools {
		if t.Errors < manyErrors {
			continue
		}
		f := diagnosis{t.Tool, 2, fmt.Sprintf("%.1f %% of %d calls failed", t.Errors, t.Calls), "open an incident for " + t.Tool}
		for _, i := range in.Incidents {
			if i.Of == t.Tool && i.Open {
				f.Severity, f.Evidence, f.Proposal = 3, f.Evidence+", incident "+i.ID, "work on "+i.ID+" first"
			}
		}
		out = append(out, f)
	}
	return out
}

func (in *signs) sources() []diagnosis {
	var out []diagnosis
	for _, h := range in.Health {
		switch {
		case h.State != world.Up:
			out = append(out, diagnosis{"source " + h.Source, 3, "its state is " + h.State, "set it up again when the work is done"})
		case h.Up < seldomUp:
			out = append(out, diagnosis{"source " + h.Source, 2, fmt.Sprintf("up at %.1f %% of %d looks", h.Up, h.Probes), "ask its vendor"})
		}
	}
	return out
}

func (in *signs) people() []diagnosis {
	var out []diagnosis
	if s := in.Scoring; s != nil && s.Drift < muchDrift {
		out = append(out, diagnosis{"scoring", 2, fmt.Sprintf("%.1f points less accurate than a month before", -s.Drift), "calibrate the scores anew"})
	}
	for _, c := range in.Campaigns {
		if c.Severity == "high" {
			out = append(out, diagnosis{c.Campaign, 2, c.Name + " breaks the rule: " + c.Rule, "correct it before it is paused"})
		}
	}
	for _, t := range in.Tickets {
		if t.Open >= manyTickets {
			out = append(out, diagnosis{"tickets about " + t.Topic, 1 + min(1, t.Urgent), fmt.Sprintf("%d are open, %d urgent", t.Open, t.Urgent), "answer the oldest first"})
		}
	}
	return out
}

// state is the evidence for a snapshot of a carrier.
type state struct {
	Fleet      fleet          `json:"fleet"`
	Safety     *safety        `json:"safety,omitempty"`
	Intel      *intel         `json:"intel,omitempty"`
	CSA        []csa          `json:"csa,omitempty"`
	Documents  []paper        `json:"documents,omitempty"`
	Business   *accountHealth `json:"business,omitempty"`
	Benchmarks []benchmark    `json:"benchmarks,omitempty"`
}

// graded is a figure with the usual value.
type graded struct {
	Figure string   `json:"figure"`
	Ours   float64  `json:"ours"`
	Usual  *float64 `json:"usual"`
	State  string   `json:"state"`
	// Urgency sorts the figures, most urgent first.
	Urgency int `json:"urgency"`
}

// gradeSnapshot compares the figures of a carrier with those of all carriers.
func gradeSnapshot(_ domainkit.Call, in state) (ranking[graded], error) {
	out := ranking[graded]{Rows: []graded{}, Options: []option{}, Missing: in.missing(), Contradictions: []string{}}
	out.Rows = append(append(out.Rows, in.beside()...), in.duties()...)
	if in.Safety != nil && in.Safety.Trucks != in.Fleet.Trucks {
		out.Contradictions = append(out.Contradictions, fmt.Sprintf("the safety records count %d trucks, the fleet has %d", in.Safety.Trucks, in.Fleet.Trucks))
	}
	slices.SortStableFunc(out.Rows, func(a, b graded) int { return cmp.Compare(b.Urgency, a.Urgency) })
	for _, r := range out.Rows {
		out.Options = append(out.Options, option{r.Figure, fmt.Sprintf("%s: %v, %s", r.Figure, r.Ours, r.State)})
	}
	behind := 0
	for _, r := range out.Rows {
		if r.Urgency > 0 {
			behind++
		}
	}
	out.line = fmt.Sprintf("%s: %d of %d figures need work", in.Fleet.Carrier, behind, len(out.Rows))
	return out, nil
}

func (in *state) missing() []string {
	out := []string{}
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"safety", in.Safety != nil},
		{"intel", in.Intel != nil},
		{"inspections", len(in.CSA) > 0},
		{"documents", in.Documents != nil},
		{"business", in.Business != nil},
		{"benchmarks", len(in.Benchmarks) > 0},
	} {
		if !part.there {
			out = append(out, part.name)
		}
	}
	return out
}

// beside compares figures with the available benchmarks.
func (in *state) beside() []graded {
	var out []graded
	ours := map[string]float64{}
	if in.Safety != nil {
		ours["vehicles out of service"], ours["drivers out of service"] = in.Safety.VehicleOOS, in.Safety.DriverOOS
	}
	if in.Intel != nil {
		ours["driver turnover a year"] = in.Intel.Turnover
	}
	for _, b := range in.Benchmarks {
		value, known := ours[b.Metric]
		if !known {
			continue
		}
		row := graded{Figure: b.Metric, Ours: value, Usual: &b.Median, State: "as usual"}
		switch { // lower is better for these figures
		case value > b.High:
			row.State, row.Urgency = "among the worst quarter", 2
		case value <= b.Low:
			row.State = "among the best quarter"
		}
		out = append(out, row)
	}
	return out
}

// duties checks requirements that do not depend on other carriers.
func (in *state) duties() []graded {
	var out []graded
	duty := func(figure string, value float64, bad bool, state string, urgency int) {
		if !bad {
			state, urgency = "good", 0
		}
		out = append(out, graded{Figure: figure, Ours: value, State: state, Urgency: urgency})
	}
	if in.Documents != nil {
		ended := 0
		for _, p := range in.Documents {
			if p.DaysLeft < 0 {
				ended++
			}
		}
		duty("documents that have ended", float64(ended), ended > 0, "renew at once", 3)
		duty("documents that end soon", float64(len(in.Documents)-ended), len(in.Documents) > ended, "renew soon", 1)
	}
	for _, c := range in.CSA {
		if c.State == "alert" {
			duty(c.Figure+" (rank in percent)", float64(c.Percentile), true, "inspectors will look", 2)
		}
	}
	duty("trucks in the shop", float64(in.Fleet.InShop), 5*in.Fleet.InShop > in.Fleet.Trucks, "more than a fifth", 1)
	if in.Business != nil {
		duty("on time, percent", in.Business.OnTime, in.Business.OnTime < 90, "shippers expect 90", 1)
		duty("share of the biggest shipper, percent", in.Business.Biggest, in.Business.Biggest > 40, "depends on one customer", 1)
	}
	return out
}
