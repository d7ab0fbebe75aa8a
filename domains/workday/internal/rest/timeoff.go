package rest

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
)

// submit is the id of the action that submits a business process, the same in every tenant.
const submit = "d9e4223e446c11de98360015c5e6daf6"

// UnitHours is the id of the unit hours, used by some plans; the others use days.
const UnitHours = "c4dacbd56bca4a9a8950e8d3ed21bbdb"

// categoryTimeOff is the category of time off; it excludes leaves of absence.
const categoryTimeOff = "17bd6531c90c100016d4b06f2b8a07ce"

// AbsenceType is a kind of time off for which a worker is eligible.
type AbsenceType struct {
	ID             string  `json:"id"`
	Descriptor     string  `json:"descriptor"`
	Unit           Ref     `json:"unitOfTime"`
	Category       Ref     `json:"category"`
	Daily          float64 `json:"dailyDefaultQuantity"`
	ReasonRequired bool    `json:"reasonRequired"`
	Reasons        []Ref   `json:"absenceReasons"`
}

func (a AbsenceType) identity() string { return a.ID }

// Balance is the balance of one plan.
type Balance struct {
	Quantity float64 `json:"quantity"`
	Unit     Ref     `json:"unit"`
	Plan     Plan    `json:"absencePlan"`
	Category Ref     `json:"category"`
	Date     string  `json:"effectiveDate"`
	Worker   Ref     `json:"worker"`
}

// Plan is the absence plan of a balance.
type Plan struct {
	Ref

	// TimeOffs lists the kinds of time off of the plan; its form differs between tenants.
	TimeOffs json.RawMessage `json:"timeoffs"`
}

// For reports whether the plan covers a kind of time off.
func (p Plan) For(kind AbsenceType) bool {
	said := string(p.TimeOffs)
	return kind.ID != "" && strings.Contains(said, kind.ID) || kind.Descriptor != "" && strings.Contains(said, `"`+kind.Descriptor+`"`)
}

func (b Balance) identity() string { return b.Plan.ID + "/" + b.Category.ID }

// ValidDate is a day on which time off may be taken.
type ValidDate struct {
	Date  string  `json:"date"`
	Daily float64 `json:"dailyDefaultQuantity"`
}

func (v ValidDate) identity() string { return v.Date }

// Entry is one day of time off.
type Entry struct {
	ID       string  `json:"timeOffEntryId"`
	Date     string  `json:"date"`
	Quantity float64 `json:"quantity"`
	Unit     Ref     `json:"unit"`
	Status   Ref     `json:"status"`
	Type     Ref     `json:"timeOffType"`
	Comment  string  `json:"comment"`
}

func (e Entry) identity() string { return e.ID }

// Day is one day of a request.
type Day struct {
	Date     string  `json:"date"`
	Quantity float64 `json:"dailyQuantity"`
	Type     Ref     `json:"timeOffType"`
	Reason   *Ref    `json:"reason,omitempty"`
	Comment  string  `json:"comment,omitempty"`
}

// Started is the result of a write that started a business process.
type Started struct {
	Event  Ref
	Status string
	// Warnings are the tenant's warnings that the lenient write accepted.
	Warnings []Detail
}

// process is a part of several request bodies.
type process struct {
	Action  Ref    `json:"action"`
	Comment string `json:"comment,omitempty"`
}

type startedAnswer struct {
	Process struct {
		Event  Ref    `json:"overallBusinessProcess"`
		Status string `json:"overallStatus"`
	} `json:"businessProcessParameters"`
	Errors []Detail `json:"errors"`
}

func (a startedAnswer) started() Started {
	return Started{Event: a.Process.Event, Status: a.Process.Status, Warnings: a.Errors}
}

// AbsenceTypes returns the kinds of time off for which a worker is eligible.
func (c *Client) AbsenceTypes(ctx context.Context, worker string) ([]AbsenceType, error) {
	page, err := list[AbsenceType](ctx, c, c.absenceOf(worker)+"/eligibleAbsenceTypes", url.Values{"category": {categoryTimeOff}}, 500)
	return page.Items, err
}

// Balances returns the balances of a worker; an empty date means today.
func (c *Client) Balances(ctx context.Context, worker, date string) ([]Balance, error) {
	query := url.Values{"worker": {worker}}
	if date != "" {
		query.Set("effective", date)
	}
	page, err := list[Balance](ctx, c, c.cfg.Paths.Absence+"/balances", query, 500)
	return page.Items, err
}

// ValidDates returns those of the dates on which time off may be taken.
func (c *Client) ValidDates(ctx context.Context, worker, absenceType string, dates []string) ([]ValidDate, error) {
	query := url.Values{"timeOff": {absenceType}, "date": dates}
	page, err := list[ValidDate](ctx, c, c.absenceOf(worker)+"/validTimeOffDates", query, 500)
	return page.Items, err
}

// Entries returns a worker's time off in a period.
func (c *Client) Entries(ctx context.Context, worker, from, to string) ([]Entry, error) {
	query := url.Values{"fromDate": {from}, "toDate": {to}}
	page, err := list[Entry](ctx, c, c.absenceOf(worker)+"/timeOffDetails", query, 1000)
	return page.Items, err
}

// RequestTimeOff submits a request. A lenient request is accepted despite warnings.
func (c *Client) RequestTimeOff(ctx context.Context, worker string, days []Day, comment string, lenient bool) (Started, error) {
	in := struct {
		Days    []Day   `json:"days"`
		Process process `json:"businessProcessParameters"`
	}{days, process{Ref{ID: submit}, comment}}
	var out startedAnswer
	err := c.postPart(ctx, c.absenceOf(worker)+"/requestTimeOff", in, &out, lenient)
	return out.started(), err
}

// DeleteEntries deletes approved days.
func (c *Client) DeleteEntries(ctx context.Context, worker string, entries []string, comment string) (Started, error) {
	type fix struct {
		Entry   Ref    `json:"correctedEntry"`
		Delete  bool   `json:"delete"`
		Comment string `json:"comment,omitempty"`
	}
	in := struct {
		Days    []fix   `json:"days"`
		Process process `json:"businessProcessParameters"`
	}{Process: process{Ref{ID: submit}, comment}}
	for _, id := range entries {
		in.Days = append(in.Days, fix{Ref{ID: id}, true, comment})
	}
	var out startedAnswer
	err := c.postPart(ctx, c.absenceOf(worker)+"/correctTimeOffEntry", in, &out, false)
	return out.started(), err
}

func (c *Client) absenceOf(worker string) string {
	return c.cfg.Paths.Absence + "/workers/" + url.PathEscape(worker)
}
