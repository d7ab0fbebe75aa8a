package workday

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// Filter narrows a list by a search text.
type Filter struct {
	Search string `json:"search,omitempty" max:"100" description:"Only those whose name has this text"`
}

func (f Filter) fits(r rest.Ref) bool {
	return strings.Contains(fold(r.Descriptor), fold(strings.TrimSpace(f.Search)))
}

// Process is a type of business process.
type Process struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Processes are the business process types of the tenant.
type Processes struct {
	Total     int       `json:"total"`
	Processes []Process `json:"processes"`
}

const mostProcesses = 120

// Summary reports their number.
func (p Processes) Summary() string {
	text := fmt.Sprintf("%d business processes", p.Total)
	if p.Total > len(p.Processes) {
		text += fmt.Sprintf("; the first %d are listed, a search narrows the list", len(p.Processes))
	}
	return text
}

func (d *domain) listProcesses(ctx context.Context, _ domainkit.Call, in Filter) (Processes, error) {
	types, err := d.client.ProcessTypes(ctx)
	if err != nil {
		return Processes{}, failure(err)
	}
	var out Processes
	out.Total, out.Processes, err = listed(types, mostProcesses, in.fits, func(t rest.Ref) (Process, error) { return Process{t.ID, t.Descriptor}, nil })
	return out, err
}
