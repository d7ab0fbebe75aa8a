package site

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// Limits of a list. The server sends whole graphs, so a page has megabytes.
const (
	flowsPerPage = 100
	maxFlowPages = 500
)

// CutNote returns a note that a list is incomplete, or "".
func CutNote(cut bool) string {
	if !cut {
		return ""
	}
	return fmt.Sprintf("; only the %d that changed last were looked at: name a type of flow, or the id of one", flowsPerPage*maxFlowPages)
}

// maxReadings is how often a list is read if it changes meanwhile.
const maxReadings = 3

// AllFlows returns the flows of a server without their graphs, last changed first. cut reports that
// there are more. If a flow is deleted or created during the read, the pages shift, so they are
// read again.
func AllFlows(ctx context.Context, client *api.Client, kind string) (flows []api.Flow, cut bool, err error) {
	return FlowsWhere(ctx, client, kind, func(string) bool { return true })
}

// FlowsWhere is like AllFlows for the flows whose graph passes keep.
func FlowsWhere(ctx context.Context, client *api.Client, kind string, keep func(flowData string) bool) (flows []api.Flow, cut bool, err error) {
	for range maxReadings {
		l := flowList{client: client, kind: api.FlowType(kind), keep: keep, known: map[string]bool{}}
		if err := l.read(ctx); err != nil {
			return nil, false, err
		}
		if flows, cut = l.flows, l.cut; cut || l.steady && len(l.known) == l.total {
			break
		}
	}
	return flows, cut, nil
}

// flowList is a list of flows being read.
type flowList struct {
	client *api.Client
	kind   api.FlowType
	keep   func(flowData string) bool
	flows  []api.Flow
	known  map[string]bool
	// total is the number of flows according to the server; steady reports that it did not change
	// during the read.
	total  int
	steady bool
	cut    bool
}

// read reads all pages.
func (l *flowList) read(ctx context.Context) error {
	for page := 1; page <= maxFlowPages; page++ {
		got, err := l.client.ListFlows(ctx, api.FlowQuery{Type: l.kind, Page: page, Limit: flowsPerPage})
		if api.IsKind(err, api.KindTimeout) && page > 1 {
			return domainkit.Refusef(contracts.ErrTimeout, "of %d flows, %d were read in the time there is; name a type of flow, or the id of one", l.total, len(l.known))
		}
		if err != nil {
			return Failure(err)
		}
		l.steady = page == 1 || l.steady && l.total == got.Total
		l.total = got.Total
		for _, f := range got.Flows {
			if !l.known[f.ID] {
				l.known[f.ID] = true
				if !l.keep(f.FlowData) {
					continue
				}
				f.FlowData = "" // lists need no graphs
				l.flows = append(l.flows, f)
			}
		}
		if len(got.Flows) < flowsPerPage {
			return nil
		}
	}
	l.cut = len(l.known) < l.total
	return nil
}
