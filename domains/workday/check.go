package workday

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// States of a permission.
const (
	PermissionGranted = "granted"
	PermissionMissing = "missing"
	PermissionUntold  = "cannot be told"
)

// Permission is a permission that the integration user needs in Workday: a security domain, and for
// the API client its functional area as scope.
type Permission struct {
	// Domain is the security domain, or the policy of a business process.
	Domain string
	Area   string
	// For names the capabilities that need it.
	For   string
	State string
	Note  string
}

// String formats a permission as one line.
func (p Permission) String() string {
	text := fmt.Sprintf("%-15s %s (functional area %s), for %s", p.State, p.Domain, p.Area, p.For)
	if p.Note != "" {
		text += ": " + p.Note
	}
	return text
}

// need is a permission with a read that requires it.
type need struct {
	Permission

	try func(ctx context.Context, worker, organization string) error
}

// Check tests, with reads only, every permission that the capabilities need. It returns an error if
// the tenant cannot be queried at all, for example if the credentials are rejected.
func Check(ctx context.Context, cfg Config) ([]Permission, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client, err := rest.New(cfg.restConfig())
	if err != nil {
		return nil, err
	}
	if err := client.Ping(ctx); err != nil {
		return nil, err
	}
	someone, err := client.SearchWorkers(ctx, "", 1)
	var worker rest.Worker
	if err == nil && len(someone.Items) > 0 {
		worker = someone.Items[0]
	}
	var out []Permission
	for _, n := range needs(client, err, cfg.Now().Format(time.DateOnly)) {
		n.State, n.Note = PermissionUntold, "no worker can be read"
		if n.try == nil {
			n.Note = "only a write shows it"
		} else if worker.ID != "" || n.Domain == needWorkers {
			n.State, n.Note = stateOfNeed(n.try(ctx, worker.ID, worker.Organization.ID))
		}
		out = append(out, n.Permission)
	}
	return out, nil
}

func stateOfNeed(err error) (state, note string) {
	switch {
	case err == nil:
		return PermissionGranted, ""
	case rest.IsKind(err, rest.KindForbidden):
		return PermissionMissing, ""
	case rest.IsKind(err, rest.KindNotFound):
		return PermissionMissing, "the tenant does not show it, or has the service at another path"
	}
	return PermissionUntold, err.Error()
}

const needWorkers = "Worker Data: Public Worker Reports"

// needs lists the permissions of Workday's published specifications, in the order in which
// administrators grant them.
func needs(c *rest.Client, listed error, today string) []need {
	read := func(domain, area, what string, try func(ctx context.Context, worker, organization string) error) need {
		return need{Permission{Domain: domain, Area: area, For: what}, try}
	}
	start := func(process string) need {
		return need{Permission: Permission{Domain: "business process policy " + process + ": initiate", Area: "of the process", For: "its write"}}
	}
	return []need{
		read(needWorkers, "Staffing", "get_worker, get_my_info, search_workers, list_direct_reports", func(context.Context, string, string) error { return listed }),
		read("Reports: Organization", "Organizations and Roles", "get_org_chart, list_managers, list_organizations, get_organization, and who may ask about whom", func(ctx context.Context, _, organization string) error {
			_, err := c.Organization(ctx, organization)
			return err
		}),
		read("Staffing Actions: Job Change Reasons", "Staffing", "change_job", func(ctx context.Context, _, _ string) error {
			_, err := rest.NewCompany(c).JobChangeReasons(ctx)
			return err
		}),
		read("Job Postings", "Recruiting", "list_job_postings", func(ctx context.Context, _, _ string) error {
			_, err := rest.NewCompany(c).JobPostings(ctx)
			return err
		}),
		read("Request Time Off (REST Service)", "Time Off and Leave", "list_absence_types, request_time_off", func(ctx context.Context, worker, _ string) error {
			_, err := c.AbsenceTypes(ctx, worker)
			return err
		}),
		read("Worker Data: Time Off", "Time Off and Leave", "list_time_off, request_time_off, cancel_time_off", func(ctx context.Context, worker, _ string) error {
			_, err := c.Entries(ctx, worker, today, today)
			return err
		}),
		read("Worker Data: Time Off (Time Off Balances)", "Time Off and Leave", "get_time_off_balances, what is left on a gate", func(ctx context.Context, worker, _ string) error {
			_, err := c.Balances(ctx, worker, "")
			return err
		}),
		read("Core Navigation, Public Business Processes", "Tenant Non-Configurable", "list_requests, list_business_processes, and what became of a write", func(ctx context.Context, worker, _ string) error {
			if _, err := c.ProcessTypes(ctx); err != nil {
				return err
			}
			_, err := c.Events(ctx, worker)
			return err
		}),
		read("Workday Query Language", "System", "query_data; besides, the domains of what is queried", func(ctx context.Context, _, _ string) error {
			_, err := c.Query(ctx, "SELECT workdayID FROM allWorkers LIMIT 1", 1)
			return err
		}),
		start("Request Time Off"), start("Correct Time Off"), start("Change Business Title"), start("Change Job"),
	}
}
