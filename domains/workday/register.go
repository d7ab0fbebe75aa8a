package workday

import (
	"encoding/json"
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/agent"
)

// oneOrMany requires one worker or several. The core splits several into one call each, so a
// handler gets only one.
var oneOrMany = json.RawMessage(`{"oneOf":[{"required":["worker"]},{"required":["workers"]}]}`)

// listOfDates sets the format of the dates.
var listOfDates = json.RawMessage(`{"properties":{"dates":{"items":{"type":"string","format":"date"}}}}`)

// register adds the capabilities. What the Go types cannot express is in manifest.json.
func (d *domain) register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "get_worker", Schema: oneOrMany}, withEmployee(d, d.getWorker)),
		domainkit.Add(svc, domainkit.Capability{Name: "search_workers"}, withEmployee(d, d.searchWorkers)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_direct_reports"}, withEmployee(d, d.listDirectReports)),
		organizations{d}.register(svc),
		domainkit.Add(svc, domainkit.Capability{Name: "get_time_off_balances", Schema: oneOrMany}, withSelfOrManager(d, d.getBalances)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_absence_types"}, withSelfOrManager(d, d.listAbsenceTypes)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_time_off"}, withSelfOrManager(d, d.listTimeOff)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_business_processes"}, d.listProcesses),
		domainkit.Add(svc, domainkit.Capability{Name: "list_requests"}, withSelfOrManager(d, d.listRequests)),
		domainkit.Add(svc, domainkit.Capability{Name: "follow_request"}, withSelfOrManager(d, following{d}.followRequest)),
		d.records.register(d, svc),
		agent.Tools{Server: d.agent, Asker: d.asker, Failure: failure}.Register(svc),
		domainkit.Add(svc, domainkit.Capability{Name: "plan_time_off", Schema: listOfDates}, withSelfOrManager(d, d.planTimeOff)),
		domainkit.AddWrite(svc, domainkit.Capability{Name: "request_time_off", Schema: listOfDates, Metadata: requested()}, withSelfOrManager(d, d.requestTimeOff), withSelfOrManager(d, d.findRequest)),
		domainkit.AddWrite(svc, domainkit.Capability{Name: "cancel_time_off", Metadata: verified(equal("facts.remaining_days", "${result.facts.remaining_days}"))},
			withSelfOrManager(d, d.cancelTimeOff), withSelfOrManager(d, d.findCancellation)),
		domainkit.AddWrite(svc, domainkit.Capability{Name: "restore_time_off", Schema: listOfDates, Metadata: requested()}, withSelfOrManager(d, d.restoreTimeOff), withSelfOrManager(d, d.findRestored)),
		titles{d}.register(svc),
		decisions{d}.register(svc),
		jobs{d}.register(svc),
	)
}

// requested is the verification of a request for time off.
func requested() contracts.Metadata {
	return verified(equal("facts.days", "${result.facts.days}"), equal("facts.first_day", "${result.facts.first_day}"),
		contracts.Condition{Path: "facts.status", In: []any{stateSubmitted, stateApproved}})
}

// verified returns metadata whose verification has these conditions.
func verified(conditions ...contracts.Condition) contracts.Metadata {
	return contracts.Metadata{Verify: &contracts.VerifyRule{Assertions: conditions, WithinMS: 5000}}
}

func equal(path string, value any) contracts.Condition {
	return contracts.Condition{Path: path, Equals: &value}
}
