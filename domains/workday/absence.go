package workday

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// absenceNames maps each kind of time off to the tenant's name or Workday id of its type.
type absenceNames map[string]string

func newAbsenceNames(own map[string]string) (absenceNames, error) {
	names := absenceNames{
		"vacation": "Vacation", "sick": "Sick", "family_care": "Family Care", "unpaid": "Unpaid Time Off",
	}
	for kind, name := range own {
		if _, known := names[kind]; !known {
			return nil, fmt.Errorf("absence type %q is none of %s", kind, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
		}
		names[kind] = name
	}
	return names, nil
}

// kindOf returns the kind of a tenant's absence type, or "".
func (n absenceNames) kindOf(t rest.Ref) string {
	for _, kind := range slices.Sorted(maps.Keys(n)) {
		if n[kind] == t.ID || fold(n[kind]) == fold(t.Descriptor) {
			return kind
		}
	}
	return ""
}

// absenceType returns the tenant's type of a kind, among the types for which the worker is
// eligible.
func (d *domain) absenceType(ctx context.Context, w rest.Worker, kind string) (rest.AbsenceType, error) {
	types, err := d.client.AbsenceTypes(ctx, w.ID)
	if err != nil {
		return rest.AbsenceType{}, failure(err)
	}
	var names []string
	for _, t := range types {
		if d.kinds.kindOf(rest.Ref{ID: t.ID, Descriptor: t.Descriptor}) == kind {
			t.Daily = cmp.Or(t.Daily, usualDay(t.Unit))
			return t, nil
		}
		names = append(names, t.Descriptor)
	}
	if len(names) == 0 {
		return rest.AbsenceType{}, domainkit.Refusef(contracts.ErrPrecondition, "%s is not eligible for time off in Workday", w.Descriptor)
	}
	return rest.AbsenceType{}, domainkit.Refusef(contracts.ErrPrecondition,
		"%s is not eligible for %s; eligible: %s", w.Descriptor, d.kinds[kind], strings.Join(names, ", "))
}

// units returns "hours" or "days" for a unit of Workday.
func units(u rest.Ref) string {
	if u.ID == rest.UnitHours || fold(u.Descriptor) == "hours" {
		return "hours"
	}
	return "days"
}

// amount formats a quantity with its unit.
func amount(quantity float64, unit string) string {
	text := strconv.FormatFloat(quantity, 'f', -1, 64)
	if quantity == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return text + " " + unit
}

// round removes the binary rounding errors of sums of quarters.
func round(f float64) float64 { return math.Round(f*10000) / 10000 }

// BalanceQuery are the parameters of get_time_off_balances.
type BalanceQuery struct {
	Whom
	Date string `json:"date,omitempty" format:"date" description:"The day for which the balances are wanted; today unless given"`
}

// Balance is the remaining quantity of one time-off plan.
type Balance struct {
	Name     string  `json:"worker_name"`
	Plan     string  `json:"plan"`
	Quantity float64 `json:"quantity"`
	Unit     string  `json:"unit"`
}

// Balances are the remaining time off of a worker.
type Balances struct {
	Worker   string    `json:"worker"`
	Name     string    `json:"worker_name"`
	Date     string    `json:"date"`
	Balances []Balance `json:"balances"`
}

// Summary lists the balances.
func (b Balances) Summary() string {
	if len(b.Balances) == 0 {
		return b.Name + " has no time-off plans"
	}
	var parts []string
	for _, p := range b.Balances {
		parts = append(parts, fmt.Sprintf("%s %s", p.Plan, amount(p.Quantity, p.Unit)))
	}
	return b.Name + ": " + strings.Join(parts, ", ")
}

func (d *domain) getBalances(ctx context.Context, _ domainkit.Call, in BalanceQuery) (Balances, error) {
	id, err := in.one()
	if err != nil {
		return Balances{}, err
	}
	found, err := d.client.Balances(ctx, id, in.Date)
	if err != nil && !rest.IsKind(err, rest.KindNotFound) {
		return Balances{}, failure(err)
	}
	out := Balances{Worker: id, Date: in.Date}
	if len(found) > 0 {
		out.Name, out.Date = found[0].Worker.Descriptor, found[0].Date
	}
	if out.Name == "" { // unknown, or without a plan
		w, err := d.worker(ctx, id)
		if err != nil {
			return Balances{}, err
		}
		out.Name = w.Descriptor
	}
	for _, b := range found {
		out.Balances = append(out.Balances, Balance{
			Name: out.Name, Plan: b.Plan.Descriptor, Quantity: round(b.Quantity), Unit: units(b.Unit),
		})
	}
	return out, nil
}

// AbsenceType is a kind of time off that a worker may request.
type AbsenceType struct {
	Name           string   `json:"name"`
	AbsenceType    string   `json:"absence_type,omitempty"`
	Unit           string   `json:"unit"`
	Day            float64  `json:"day"`
	ReasonRequired bool     `json:"reason_required"`
	Reasons        []string `json:"reasons,omitempty"`
}

// AbsenceTypes are the kinds of time off for which a worker is eligible.
type AbsenceTypes struct {
	Worker string        `json:"worker"`
	Name   string        `json:"worker_name"`
	Types  []AbsenceType `json:"types"`
}

// Summary lists their names.
func (a AbsenceTypes) Summary() string {
	if len(a.Types) == 0 {
		return a.Name + " is not eligible for time off"
	}
	var names []string
	for _, t := range a.Types {
		names = append(names, t.Name)
	}
	return a.Name + " may take: " + strings.Join(names, ", ")
}

func (d *domain) listAbsenceTypes(ctx context.Context, _ domainkit.Call, in Someone) (AbsenceTypes, error) {
	w, err := d.worker(ctx, in.Worker)
	if err != nil {
		return AbsenceTypes{}, err
	}
	types, err := d.client.AbsenceTypes(ctx, in.Worker)
	if err != nil {
		return AbsenceTypes{}, failure(err)
	}
	out := AbsenceTypes{Worker: w.ID, Name: w.Descriptor}
	for _, t := range types {
		own := AbsenceType{
			Name: t.Descriptor, AbsenceType: d.kinds.kindOf(rest.Ref{ID: t.ID, Descriptor: t.Descriptor}),
			Unit: units(t.Unit), Day: t.Daily, ReasonRequired: t.ReasonRequired,
		}
		for _, r := range t.Reasons {
			own.Reasons = append(own.Reasons, r.Descriptor)
		}
		out.Types = append(out.Types, own)
	}
	return out, nil
}
