package workday

import (
	"encoding/json"
	"errors"

	"github.com/manifold-run/manifold/domainkit"
)

// oneOrMany lets a capability be asked for one worker or for several; the core
// splits several into one call each, so that a handler only meets one.
var oneOrMany = json.RawMessage(`{"oneOf":[{"required":["worker"]},{"required":["workers"]}]}`)

// verdictOnly leaves the fields of what was looked for optional: there may be
// nothing.
func verdictOnly(fields ...string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"required": fields})
	if err != nil {
		return nil // strings always have a JSON form
	}
	return raw
}

// foundTitle declares beside the verdict what the read-back of a change compares.
var foundTitle = json.RawMessage(`{"required": ["applied"], "properties": {"title": {"type": "string"}}}`)

// register adds the capabilities; what the types cannot say of them stands in
// manifest.json.
func (d *domain) register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "get_worker", Schema: oneOrMany}, colleagues(d, d.getWorker)),
		domainkit.Add(svc, domainkit.Capability{Name: "search_workers"}, colleagues(d, d.searchWorkers)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_direct_reports"}, colleagues(d, d.listDirectReports)),
		domainkit.Add(svc, domainkit.Capability{Name: "get_time_off_balances", Schema: oneOrMany}, private(d, d.getBalances)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_absence_types"}, private(d, d.listAbsenceTypes)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_time_off"}, private(d, d.listTimeOff)),
		domainkit.Add(svc, domainkit.Capability{Name: "list_business_processes"}, d.listProcesses),
		domainkit.Add(svc, domainkit.Capability{Name: "request_time_off", Resolve: domainkit.LookUp(d.resolveRequest)}, private(d, d.requestTimeOff)),
		domainkit.Add(svc, domainkit.Capability{Name: "get_time_off_request", OutputSchema: verdictOnly("found", "applied")}, private(d, d.getRequest)),
		domainkit.Add(svc, domainkit.Capability{Name: "find_time_off_request", OutputSchema: verdictOnly("found", "applied")}, private(d, d.findRequest)),
		domainkit.Add(svc, domainkit.Capability{Name: "cancel_time_off", Resolve: domainkit.LookUp(d.resolveCancellation)}, private(d, d.cancelTimeOff)),
		domainkit.Add(svc, domainkit.Capability{Name: "find_time_off_cancellation", OutputSchema: verdictOnly("applied")}, private(d, d.findCancellation)),
		domainkit.Add(svc, domainkit.Capability{Name: "change_business_title", Resolve: domainkit.LookUp(d.resolveTitle)}, overseen(d, d.changeTitle)),
		domainkit.Add(svc, domainkit.Capability{Name: "restore_business_title", Resolve: domainkit.LookUp(d.resolveTitle)}, overseen(d, d.changeTitle)),
		domainkit.Add(svc, domainkit.Capability{Name: "find_business_title_change", OutputSchema: foundTitle}, overseen(d, d.findTitle)),
	)
}
