package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// Ids that Workday publishes and that are the same in every tenant.
const (
	actionSubmit = "d9e4223e446c11de98360015c5e6daf6"

	categoryTimeOff = "17bd6531c90c100016d4b06f2b8a07ce"

	unitHours = "c4dacbd56bca4a9a8950e8d3ed21bbdb"
	unitDays  = "4d9c0a4936614375aa5e97b6223625f2"
)

// entryStatus is the status of one day of time off.
type entryStatus string

const (
	statusApproved     entryStatus = "Approved"
	statusSubmitted    entryStatus = "Submitted"
	statusNotSubmitted entryStatus = "Not Submitted"
	statusSentBack     entryStatus = "Sent Back"
	// statusGone is the status of a cancelled, denied or deleted entry, which Workday no longer
	// lists.
	statusGone entryStatus = ""
)

func (s entryStatus) ref() *ref {
	ids := map[entryStatus]string{
		statusApproved:     "0391102bd1b542538d996936c8fa2fa7",
		statusSubmitted:    "dd817fe688db4ac7bf84e3ef79f72948",
		statusNotSubmitted: "eddf5968e6d4430ca4bce9a4cfaba337",
		statusSentBack:     "070b249867f747a19bca64f73eafc9b8",
	}
	return &ref{ID: ids[s], Descriptor: string(s)}
}

// absenceType is a kind of time off that workers may request.
type absenceType struct {
	id, name string
	planID   string // empty: needs no balance
	planName string
	unit     string
	daily    float64 // quantity of a whole day
	reasons  []ref   // if not empty, one must be given
}

func (a *absenceType) unitRef() *ref {
	if a.unit == unitHours {
		return &ref{ID: unitHours, Descriptor: "Hours"}
	}
	return &ref{ID: unitDays, Descriptor: "Days"}
}

// entry is one day of time off.
type entry struct {
	id, workerID, eventID string
	date                  string
	kind                  *absenceType
	quantity              float64
	status                entryStatus
	reason                *ref
	comment               string
}

// blocks reports whether the entry prevents another request for its day.
func (e *entry) blocks() bool { return e.status == statusApproved || e.status == statusSubmitted }

type balanceKey struct{ workerID, planID string }

type absence struct {
	kinds    []*absenceType
	balances map[balanceKey]float64
	entries  []*entry
}

func absenceTypes() []*absenceType {
	return []*absenceType{
		{
			id: wid("absenceType", 0), name: "Vacation", planID: wid("plan", 0), planName: "Vacation Plan",
			unit: unitDays, daily: 1,
		},
		{
			id: wid("absenceType", 1), name: "Sick", planID: wid("plan", 1), planName: "Sick Time Plan",
			unit: unitHours, daily: 8,
		},
		{
			id: wid("absenceType", 2), name: "Family Care", planID: wid("plan", 2), planName: "Family Care Plan",
			unit: unitDays, daily: 1,
			reasons: []ref{
				{ID: wid("reason", 0), Descriptor: "Child"},
				{ID: wid("reason", 1), Descriptor: "Parent"},
				{ID: wid("reason", 2), Descriptor: "Other Relative"},
			},
		},
		{id: wid("absenceType", 3), name: "Unpaid Time Off", unit: unitDays, daily: 1},
	}
}

func seedAbsence(seed uint64, c company) absence {
	a := absence{kinds: absenceTypes(), balances: map[balanceKey]float64{}}
	rng := sandboxkit.NewRand(seed, "balances")
	for i, w := range c.workers {
		vacation, sick, care := float64(rng.IntN(52))/2, float64(rng.IntN(11)*8), float64(rng.IntN(6))
		switch {
		case i%41 == 40 && !w.featured:
			vacation = 0
		case i%47 == 46 && !w.featured:
			vacation = -2.5 // time taken in advance
		case w.featured:
			vacation, sick, care = fixedBalances(i)
		}
		if w.contingent || w.terminated {
			continue
		}
		a.balances[balanceKey{w.id, a.kinds[0].planID}] = vacation
		a.balances[balanceKey{w.id, a.kinds[1].planID}] = sick
		a.balances[balanceKey{w.id, a.kinds[2].planID}] = care
	}
	a.seedHistory(seed, c)
	return a
}

func fixedBalances(i int) (vacation, sick, care float64) {
	return 10 + float64(i*7%11) + 0.5*float64(i%2), float64(24 + i%3*16), 5
}

// seedHistory adds past entries of every status for people who are not featured.
func (a *absence) seedHistory(seed uint64, c company) {
	rng := sandboxkit.NewRand(seed, "history")
	statuses := []entryStatus{statusApproved, statusApproved, statusApproved, statusSubmitted, statusNotSubmitted, statusSentBack}
	start := time.Date(2025, time.July, 7, 0, 0, 0, 0, time.UTC)
	for n := range len(c.workers) * 4 / 3 {
		w := c.workers[rng.IntN(len(c.workers))]
		day := start.AddDate(0, 0, rng.IntN(47)*7+rng.IntN(5))
		kind := a.kinds[rng.IntN(2)]
		status := statuses[rng.IntN(len(statuses))]
		if w.featured || w.contingent || w.terminated || a.at(w.id, day.Format(time.DateOnly)) != nil {
			continue
		}
		a.entries = append(a.entries, &entry{
			id: wid("entry", n), workerID: w.id, eventID: wid("seededEvent", n),
			date: day.Format(time.DateOnly), kind: kind, quantity: kind.daily, status: status,
		})
	}
}

func (a *absence) kind(id string) *absenceType {
	i := slices.IndexFunc(a.kinds, func(k *absenceType) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	return a.kinds[i]
}

// at returns the entry that occupies a worker's day.
func (a *absence) at(workerID, date string) *entry {
	i := slices.IndexFunc(a.entries, func(e *entry) bool {
		return e.workerID == workerID && e.date == date && e.blocks()
	})
	if i < 0 {
		return nil
	}
	return a.entries[i]
}

func (a *absence) entry(id string) *entry {
	i := slices.IndexFunc(a.entries, func(e *entry) bool { return e.id == id && e.status != statusGone })
	if i < 0 {
		return nil
	}
	return a.entries[i]
}

// between returns a worker's entries in a period, oldest first.
func (a *absence) between(workerID, from, to string) []*entry {
	var list []*entry
	for _, e := range a.entries {
		late := (to != "" && e.date > to) || e.status == statusGone
		if e.workerID == workerID && e.date >= from && !late {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(x, y *entry) int {
		return cmp.Or(strings.Compare(x.date, y.date), strings.Compare(x.id, y.id))
	})
	return list
}

func (a *absence) ofEvent(eventID string) []*entry {
	var list []*entry
	for _, e := range a.entries {
		if e.eventID == eventID {
			list = append(list, e)
		}
	}
	return list
}

// available returns a balance minus the pending requests.
func (a *absence) available(workerID, planID string) float64 {
	left := a.balances[balanceKey{workerID, planID}]
	for _, e := range a.entries {
		if e.workerID == workerID && e.kind.planID == planID && e.status == statusSubmitted {
			left -= e.quantity
		}
	}
	return left
}

// settle changes the status of an entry and adjusts the balance.
func (a *absence) settle(e *entry, to entryStatus) {
	key := balanceKey{e.workerID, e.kind.planID}
	if e.kind.planID != "" {
		if e.status == statusApproved {
			a.balances[key] += e.quantity
		}
		if to == statusApproved {
			a.balances[key] -= e.quantity
		}
	}
	e.status = to
}

// workday reports whether a date is a working day: Christmas and New Year are holidays.
func workday(date string) bool {
	d, err := time.Parse(time.DateOnly, date)
	holiday := strings.HasSuffix(date, "-12-25") || strings.HasSuffix(date, "-01-01")
	return err == nil && !holiday && d.Weekday() != time.Saturday && d.Weekday() != time.Sunday
}
