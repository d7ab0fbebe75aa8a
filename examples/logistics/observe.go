package logistics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// toolUse are the statistics of a tool of the platform.
type toolUse struct {
	Tool   string  `json:"tool"`
	Calls  int     `json:"calls"`
	Errors float64 `json:"errors_percent"`
	P50    int     `json:"p50_ms"`
	P95    int     `json:"p95_ms"`
}

// toolUses returns the statistics of each tool, highest error rate first.
func toolUses(w *world.World, hours int) []toolUse {
	var rows []toolUse
	for _, tool := range world.Tools() {
		failed, times := 0, []float64{}
		for _, c := range w.Platform.Calls {
			if c.Tool == tool && c.HoursAgo < float64(hours) {
				times = append(times, float64(c.Ms))
				if !c.OK {
					failed++
				}
			}
		}
		rows = append(rows, toolUse{tool, len(times), world.Share(failed, len(times)), int(world.Quantile(times, 0.5)), int(world.Quantile(times, 0.95))})
	}
	slices.SortStableFunc(rows, func(a, b toolUse) int { return cmp.Compare(b.Errors, a.Errors) })
	return rows
}

func (d admins) toolPerformance(_ domainkit.Call, in lately) (listing[toolUse], error) {
	rows := toolUses(d.world, in.Hours)
	return listed(rows, fmt.Sprintf("%s fails most: %.1f %% of %d calls", rows[0].Tool, rows[0].Errors, rows[0].Calls)), nil
}

// tracing is an overview of the platform.
type tracing struct {
	Hours   int       `json:"hours"`
	Calls   int       `json:"calls"`
	Errors  float64   `json:"errors_percent"`
	P50     int       `json:"p50_ms"`
	P95     int       `json:"p95_ms"`
	Slowest []toolUse `json:"slowest"`
}

// Summary implements domainkit.Summarizer.
func (t tracing) Summary() string {
	return fmt.Sprintf("%d calls in %d hours, %.1f %% failed, 95 %% within %d ms", t.Calls, t.Hours, t.Errors, t.P95)
}

func (d admins) tracing(_ domainkit.Call, in lately) (tracing, error) {
	t := tracing{Hours: in.Hours}
	failed, times := 0, []float64{}
	for _, c := range d.world.Platform.Calls {
		if c.HoursAgo < float64(in.Hours) {
			times = append(times, float64(c.Ms))
			if !c.OK {
				failed++
			}
		}
	}
	t.Calls, t.Errors, t.P50, t.P95 = len(times), world.Share(failed, len(times)), int(world.Quantile(times, 0.5)), int(world.Quantile(times, 0.95))
	slowest := toolUses(d.world, in.Hours)
	slices.SortStableFunc(slowest, func(a, b toolUse) int { return cmp.Compare(b.P95, a.P95) })
	t.Slowest = slowest[:3]
	return t, nil
}

// accuracy is how well the scores of matches predict hires.
type accuracy struct {
	Predictions int     `json:"predictions"`
	Accuracy    float64 `json:"accuracy_percent"`
	Brier       float64 `json:"brier"`
	// Before is the accuracy of the 30 days before the last 30.
	Before float64 `json:"accuracy_before_percent"`
	Drift  float64 `json:"drift_points"`
	// TooSure is by how much the scores exceed the share of hires.
	TooSure float64 `json:"too_sure_points"`
}

// Summary implements domainkit.Summarizer.
func (a accuracy) Summary() string {
	return fmt.Sprintf("%.1f %% of %d scores were right (%+.1f points); Brier %.3f", a.Accuracy, a.Predictions, a.Drift, a.Brier)
}

func (d admins) scoring(_ domainkit.Call, _ nothing) (accuracy, error) {
	var a accuracy
	right, rightBefore, before, hired := 0, 0, 0, 0
	brier, scores := 0.0, 0.0
	for _, p := range d.world.Platform.Predictions {
		good := (p.Score >= 0.5) == p.Hired
		if p.DaysAgo >= 30 {
			before++
			if good {
				rightBefore++
			}
			continue
		}
		a.Predictions++
		outcome := 0.0
		if p.Hired {
			outcome = 1
			hired++
		}
		if good {
			right++
		}
		brier += (p.Score - outcome) * (p.Score - outcome)
		scores += p.Score
	}
	n := float64(max(1, a.Predictions))
	a.Accuracy, a.Before = world.Share(right, a.Predictions), world.Share(rightBefore, before)
	a.Brier, a.Drift = math.Round(1000*brier/n)/1000, world.Round1(a.Accuracy-a.Before)
	a.TooSure = world.Round1(100 * (scores - float64(hired)) / n)
	return a, nil
}
