package workday

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// DataQuery are the parameters of query_data.
type DataQuery struct {
	Query string `json:"query" min:"10" max:"8000" pattern:"^(?i)select\\s[^;]+$" description:"A query in WQL, such as SELECT worker, businessTitle FROM allWorkers"`
	Limit int    `json:"limit" default:"200" min:"1" max:"2000" description:"The most rows"`
}

// Report is a custom report of the tenant that is enabled as a web service.
type Report struct {
	// Path is its owner and name, for example ISU_Manifold/Headcount.
	Path string `json:"path"`
	// Prompts are the names of the prompts that a caller may set.
	Prompts []string `json:"prompts,omitempty"`
}

// ReportQuery are the parameters of get_report.
type ReportQuery struct {
	Report  string            `json:"report" description:"Name of the report"`
	Prompts map[string]string `json:"prompts,omitempty" description:"Values of the report's prompts, by their names"`
}

// Table is the result of a query or a report.
type Table struct {
	Total   int      `json:"total"`
	Columns []string `json:"columns"`
	// Rows are the first rows; the artifact "rows" has all that were read.
	Rows []TableRow `json:"rows"`
}

// TableRow is a row: its first column, and the others as text.
type TableRow struct {
	Label   string `json:"label"`
	Details string `json:"details,omitempty"`
}

// records serves data about all workers: queries and the configured reports.
type records struct {
	client  *rest.Client
	reports map[string]Report
}

const (
	shownRows  = 50
	shownBytes = 12 << 10
)

// Summary reports the number of rows.
func (t Table) Summary() string {
	text := amount(float64(t.Total), "rows")
	if t.Total > len(t.Rows) {
		text += fmt.Sprintf("; the first %d are shown", len(t.Rows))
	}
	return text
}

// queryData runs a WQL query.
func (r records) queryData(ctx context.Context, _ domainkit.Call, in DataQuery) (domainkit.Result[Table], error) {
	page, err := r.client.Query(ctx, in.Query, in.Limit)
	if err != nil {
		return domainkit.Result[Table]{}, failure(err)
	}
	return tableOf(page.Items, page.Total, in.Query), nil
}

// getReport runs a configured report.
func (r records) getReport(ctx context.Context, _ domainkit.Call, in ReportQuery) (domainkit.Result[Table], error) {
	report := r.reports[in.Report]
	for name := range in.Prompts {
		if !slices.Contains(report.Prompts, name) {
			return domainkit.Result[Table]{}, domainkit.Refusef(contracts.ErrInvalidParameters, "%s has no prompt %q; it has: %s",
				in.Report, name, cmp.Or(strings.Join(report.Prompts, ", "), "none"))
		}
	}
	rows, err := r.client.Report(ctx, report.Path, in.Prompts)
	if err != nil {
		return domainkit.Result[Table]{}, failure(err)
	}
	return tableOf(rows, len(rows), ""), nil
}

// tableOf returns the first rows, and all rows as an artifact. The columns are in the order of the
// query.
func tableOf(rows []rest.Row, total int, query string) domainkit.Result[Table] {
	out := Table{Total: max(total, len(rows)), Columns: columnsOf(rows, query), Rows: []TableRow{}}
	size := 0
	for _, row := range rows[:min(len(rows), shownRows)] {
		shown := TableRow{}
		var others []string
		for i, name := range out.Columns {
			switch text := cell(row[name]); {
			case i == 0:
				shown.Label = text
			case text != "":
				others = append(others, name+": "+text)
			}
		}
		shown.Details = strings.Join(others, "; ")
		if size += len(shown.Label) + len(shown.Details); size > shownBytes {
			break
		}
		out.Rows = append(out.Rows, shown)
	}
	return domainkit.Result[Table]{Facts: out, Artifacts: map[string]any{"rows": rows}}
}

func columnsOf(rows []rest.Row, query string) []string {
	names := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			names[name] = true
		}
	}
	at := func(name string) int {
		if i := strings.Index(query, name); i >= 0 {
			return i
		}
		return len(query)
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), strings.Compare(a, b))
	})
}

// cell formats a value: a reference as its name, a list as its items.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, cell(one))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		return cmp.Or(cell(v["descriptor"]), cell(v["id"]))
	}
	return fmt.Sprint(value)
}

// withFullAccess restricts a handler to the roles of Access.All.
func withFullAccess[In, Out any](d *domain, handle handler[In, Out]) handler[In, Out] {
	return func(ctx context.Context, call domainkit.Call, in In) (out Out, err error) {
		if !has(call.Principal.Roles, d.access.All) {
			return out, domainkit.Refusef(contracts.ErrUnauthorized, "only the roles %s may ask for this, which is about everybody", strings.Join(d.access.All, ", "))
		}
		return handle(ctx, call, in)
	}
}

const getReport = "get_report"

// register adds query_data, and get_report if reports are configured.
func (r records) register(d *domain, svc *domainkit.Service) error {
	query := domainkit.Add(svc, domainkit.Capability{Name: "query_data"}, withFullAccess(d, r.queryData))
	if query != nil || len(r.reports) == 0 {
		return query
	}
	for name, report := range r.reports {
		if owner, of, found := strings.Cut(report.Path, "/"); !found || owner == "" || of == "" {
			return fmt.Errorf("report %q: the path %q is not owner/name", name, report.Path)
		}
	}
	names := slices.Sorted(maps.Keys(r.reports))
	schema, err := json.Marshal(map[string]any{"properties": map[string]any{"report": map[string]any{"enum": names}}})
	if err != nil {
		return err
	}
	return domainkit.Add(svc, domainkit.Capability{
		Name: getReport, Schema: schema, Metadata: contracts.Metadata{Examples: []contracts.CallExample{{Parameters: map[string]any{"report": names[0]}}}},
	}, withFullAccess(d, r.getReport))
}
