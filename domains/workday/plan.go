package workday

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// Error types after which a request is planned and shown to the approver again.
const (
	errPlanChanged = "domain.plan_changed"
	errWarned      = "domain.workday_warns"
)

const (
	mostDays = 60 // of one request
	sickBack = 31 // days in the past for which sick leave may be entered
)

// Wish is a possible request for time off: a number of days from a first day or, if they are not
// consecutive, the dates.
type Wish struct {
	Someone
	Days        float64  `json:"days" above:"0" max:"999" description:"Number of working days, in quarters"`
	Start       string   `json:"start" format:"date" description:"First day"`
	Dates       []string `json:"dates,omitempty" min:"2" max:"60" description:"The days themselves, where they do not follow one another"`
	AbsenceType string   `json:"absence_type" enum:"vacation,sick,family_care,unpaid" default:"vacation" description:"Kind of time off"`
	Reason      string   `json:"reason,omitempty" max:"100" description:"Reason, for kinds that need one"`
}

// TimeOffPlan is the outcome of planning a request. An impossible request is refused, so that
// nobody is asked to approve it.
type TimeOffPlan struct {
	Worker      string   `json:"worker"`
	Name        string   `json:"worker_name"`
	AbsenceName string   `json:"absence_name"`
	Days        float64  `json:"days"`
	FirstDay    string   `json:"first_day"`
	LastDay     string   `json:"last_day"`
	Quantity    float64  `json:"quantity"`
	Unit        string   `json:"unit"`
	Warnings    []string `json:"warnings"`
	// Matches holds the plan as the only choice.
	Matches []PlanChoice `json:"matches"`
}

// PlanChoice is a plan with a label for the approver.
type PlanChoice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Summary describes the plan.
func (p TimeOffPlan) Summary() string { return p.Matches[0].Label }

// planTimeOff validates a request without submitting it.
func (d *domain) planTimeOff(ctx context.Context, _ domainkit.Call, in Wish) (TimeOffPlan, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return TimeOffPlan{}, err
	}
	t, _, err := d.planAbsence(ctx, "", w, in)
	if err != nil {
		return TimeOffPlan{}, err
	}
	if err := d.checkBalance(ctx, t); err != nil {
		return TimeOffPlan{}, err
	}
	value := t.days()
	if warnings := d.warned.of(t.key(), d.now()); len(warnings) > 0 {
		var codes []string
		for _, w := range warnings {
			codes = append(codes, w.Code)
			t.warn("Workday warns: " + w.Message)
		}
		value += accepting + strings.Join(codes, ",")
	}
	out := TimeOffPlan{
		Worker: w.ID, Name: w.Descriptor, AbsenceName: t.kind.Descriptor, Days: round(t.quantity() / t.kind.Daily),
		FirstDay: t.plan[0].Date, LastDay: t.plan[len(t.plan)-1].Date, Quantity: t.quantity(), Unit: units(t.kind.Unit), Warnings: t.warnings,
	}
	out.Matches = []PlanChoice{{value, t.label()}}
	return out, nil
}

// draftPlan is a time-off request that was validated but not submitted.
type draftPlan struct {
	worker   rest.Worker
	kind     rest.AbsenceType
	reason   *rest.Ref
	plan     []rest.Day
	left     string
	warnings []string
}

func (t *draftPlan) warn(text string) { t.warnings = append(t.warnings, text) }

func (t *draftPlan) quantity() float64 {
	var sum float64
	for _, day := range t.plan {
		sum = round(sum + day.Quantity)
	}
	return sum
}

// accepting separates the days from the codes of the accepted warnings.
const accepting = ";accepting "

// days encodes the days of a plan; a partial day has its fraction.
func (t *draftPlan) days() string {
	var out []string
	for _, day := range t.plan {
		text := day.Date
		if part := round(day.Quantity / t.kind.Daily); part != 1 {
			text += "=" + strconv.FormatFloat(part, 'f', -1, 64)
		}
		out = append(out, text)
	}
	return "days:" + strings.Join(out, ",")
}

// readPlan splits an encoded plan into its days and the accepted warnings.
func readPlan(plan string) (days string, accepted []string) {
	days, codes, has := strings.Cut(plan, accepting)
	if has {
		accepted = strings.Split(codes, ",")
	}
	return days, accepted
}

// key identifies the request to which a warning of Workday applies.
func (t *draftPlan) key() string { return t.worker.ID + " " + t.kind.ID + " " + t.days() }

// label describes a plan for the approver.
func (t *draftPlan) label() string {
	first, last := t.plan[0].Date, t.plan[len(t.plan)-1].Date
	when := spoken(first)
	switch {
	case len(t.plan) <= 3:
		var each []string
		for _, day := range t.plan {
			each = append(each, spoken(day.Date))
		}
		when = strings.Join(each, ", ")
	case len(t.plan) > 3:
		when = "from " + spoken(first) + " to " + spoken(last)
	}
	text := fmt.Sprintf("%s of %s: %s", amount(round(t.quantity()/t.kind.Daily), "days"), t.kind.Descriptor, when)
	if units(t.kind.Unit) == "hours" {
		text += ", " + amount(t.quantity(), "hours")
	}
	for _, part := range append([]string{t.left}, t.warnings...) {
		if part != "" {
			text += "; " + part
		}
	}
	if r := []rune(text); len(r) > 290 {
		text = string(r[:289]) + "…"
	}
	return text
}

// spoken formats a date with its day of the week.
func spoken(date string) string {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return d.Format("Mon 2 Jan 2006")
}

// planAbsence selects the days of a request and refuses an impossible one. If an earlier execution
// with this key made a request, it returns that instead.
func (d *domain) planAbsence(ctx context.Context, key string, w rest.Worker, in Wish) (*draftPlan, *Request, error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	kind, err := d.absenceType(ctx, w, in.AbsenceType)
	if err != nil {
		return nil, nil, err
	}
	reason, err := reasonOf(kind, in.Reason)
	if err != nil {
		return nil, nil, err
	}
	candidates := in.candidates()
	taken, err := d.entries(ctx, w.ID, candidates[0], candidates[len(candidates)-1])
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(taken, func(e rest.Entry) bool { return marked(e.Comment, key) }) {
		found, err := d.marked(ctx, key, w, in.Start)
		return nil, found, err
	}
	t := &draftPlan{worker: w, kind: kind, reason: reason, warnings: []string{}}
	if err := d.inTime(t, in); err != nil {
		return nil, nil, err
	}
	valid, err := d.client.ValidDates(ctx, w.ID, kind.ID, candidates)
	if err != nil {
		return nil, nil, failure(err)
	}
	t.plan, err = choose(candidates, valid, taken, kind, in, w.Descriptor)
	return t, nil, err
}

// check refuses contradictory parameters and requests that are never allowed.
func (in Wish) check() error {
	switch {
	case in.Days > mostDays:
		return domainkit.Refusef(contracts.ErrPrecondition, "%s are more than the %d of one request; ask for less", amount(in.Days, "working days"), mostDays)
	case len(in.Dates) == 0:
		return nil
	case math.Ceil(in.Days) != float64(len(in.Dates)):
		return domainkit.Refusef(contracts.ErrInvalidParameters, "%s were named, and %s asked for", amount(float64(len(in.Dates)), "dates"), amount(in.Days, "days"))
	case in.Start != slices.Min(in.Dates):
		return domainkit.Refusef(contracts.ErrInvalidParameters, "the first day %s is not the first of the dates, which is %s", in.Start, slices.Min(in.Dates))
	}
	return nil
}

// candidates returns the days that may be requested: the given dates, or enough days from the first
// one on.
func (in Wish) candidates() []string {
	if len(in.Dates) > 0 {
		list := slices.Clone(in.Dates)
		slices.Sort(list)
		return slices.Compact(list)
	}
	var out []string
	horizon := shift(in.Start, int(math.Ceil(in.Days))*2+14)
	for day := in.Start; day <= horizon; day = shift(day, 1) {
		out = append(out, day)
	}
	return out
}

// inTime refuses days in the past, except recent sick leave, which is often entered afterwards.
func (d *domain) inTime(t *draftPlan, in Wish) error {
	today := d.today().In(d.zone).Format(time.DateOnly)
	if in.Start >= today {
		return nil
	}
	if in.AbsenceType == "sick" && in.Start >= shift(today, -sickBack) {
		t.warn("it lies in the past")
		return nil
	}
	return domainkit.Refusef(contracts.ErrPrecondition, "%s is in the past; time off is requested from today, %s, on, and sickness for at most %d days back", in.Start, today, sickBack)
}

// checkBalance adds a warning if a plan exceeds the balance. The tenant decides whether a balance
// may become negative.
func (d *domain) checkBalance(ctx context.Context, t *draftPlan) error {
	all, err := d.client.Balances(ctx, t.worker.ID, "")
	if rest.IsKind(err, rest.KindForbidden) || rest.IsKind(err, rest.KindNotFound) {
		return nil
	}
	if err != nil {
		return failure(err)
	}
	for _, b := range all {
		if !b.Plan.For(t.kind) {
			continue
		}
		unit := units(b.Unit)
		if after := round(b.Quantity - t.quantity()); after < 0 {
			t.warn(fmt.Sprintf("%s more than the %s that are left", amount(-after, unit), amount(b.Quantity, unit)))
		} else {
			t.left = fmt.Sprintf("%s left, %s after it", amount(b.Quantity, unit), amount(after, unit))
		}
		return nil
	}
	return nil
}

// choose selects the days: all given dates, or from the first day on the days on which the tenant
// allows time off. The first day must be allowed. Later holidays and weekends are skipped; a day
// that is taken is not.
func choose(candidates []string, valid []rest.ValidDate, taken []rest.Entry, kind rest.AbsenceType, in Wish, name string) ([]rest.Day, error) {
	left, named := in.Days, len(in.Dates) > 0
	var out []rest.Day
	for _, day := range candidates {
		if left <= 0 {
			break
		}
		free := slices.ContainsFunc(valid, func(v rest.ValidDate) bool { return v.Date == day })
		if i := slices.IndexFunc(taken, func(e rest.Entry) bool { return e.Date == day && holds(e) }); i >= 0 {
			return nil, domainkit.Refusef(contracts.ErrConflict, "%s already has %s on %s (%s)", name, taken[i].Type.Descriptor, day, entryState(taken[i]))
		}
		if !free && (named || day == in.Start) {
			return nil, domainkit.Refusef(contracts.ErrPrecondition, "%s, %s, is not a working day of %s", spoken(day), day, name)
		}
		if free {
			part := min(left, 1)
			out = append(out, rest.Day{Date: day, Quantity: round(part * kind.Daily), Type: rest.Ref{ID: kind.ID}})
			left -= part
		}
	}
	if left > 0 {
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "there are not %s free from %s on", amount(in.Days, "working days"), in.Start)
	}
	return out, nil
}

// warnings stores, in memory, the requests that Workday warned of, until they are shown with the
// warning and approved again. If a warning is lost, Workday warns again.
type warnings struct {
	mu  sync.Mutex
	all map[string]warned
}

type warned struct {
	details []rest.Detail
	until   time.Time
}

const (
	mostWarned  = 1000
	warnedWhile = 8 * 24 * time.Hour // longer than a gate waits
)

func (w *warnings) keep(key string, details []rest.Detail, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, old := range w.all {
		if old.until.Before(now) || len(w.all) >= mostWarned {
			delete(w.all, other)
		}
	}
	if w.all == nil {
		w.all = map[string]warned{}
	}
	w.all[key] = warned{details, now.Add(warnedWhile)}
}

func (w *warnings) of(key string, now time.Time) []rest.Detail {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.all[key]; now.Before(known.until) {
		return known.details
	}
	return nil
}
