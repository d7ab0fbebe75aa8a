package site

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// Pages of a list: the server sends whole graphs, so that a page has megabytes.
const (
	flowsPerPage = 100
	maxFlowPages = 500
)

// CutNote says that a list is not whole, and what to do.
func CutNote(cut bool) string {
	if !cut {
		return ""
	}
	return fmt.Sprintf("; only the %d that changed last were looked at: name a type of flow, or the id of one", flowsPerPage*maxFlowPages)
}

// maxReadings is how often a list is read that changes meanwhile.
const maxReadings = 3

// AllFlows lists the flows of a server, the last changed first, without their
// graphs. cut says that there are more. A flow that is deleted or made while the
// pages are read moves others over their borders, so they are read once more.
func AllFlows(ctx context.Context, client *api.Client, kind string) (flows []api.Flow, cut bool, err error) {
	return FlowsWhere(ctx, client, kind, func(string) bool { return true })
}

// FlowsWhere is AllFlows for those whose graphs are to be kept.
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

// flowList is a list of flows in the making.
type flowList struct {
	client *api.Client
	kind   api.FlowType
	keep   func(flowData string) bool
	flows  []api.Flow
	known  map[string]bool
	// total is how many the server says that there are; steady, that it said so
	// all the time.
	total  int
	steady bool
	cut    bool
}

// read adds the flows of all pages.
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
				f.FlowData = "" // a list needs no graphs
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
