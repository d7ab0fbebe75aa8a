package httpapi

import (
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// domainRoutes serve the domains and their capabilities.
type domainRoutes struct {
	registry *registry.Registry
	gone     func(domain string) // called with each domain that was unregistered
}

func (s *domainRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/v1/domains", false, s.listDomains},
		{http.MethodPost, "/v1/domains", false, s.registerDomain},
		{http.MethodGet, "/v1/domains/:name", false, s.showDomain},
		{http.MethodDelete, "/v1/domains/:name", false, s.unregisterDomain},
		{http.MethodPost, "/v1/domains/:name/refresh", false, s.refreshDomain},
		{http.MethodPost, "/v1/domains/:name/confirm", false, s.confirmDomain},
		{http.MethodGet, "/v1/domains/:name/diff", false, s.diffDomain},
		{http.MethodGet, "/v1/capabilities", false, s.listCapabilities},
		{http.MethodGet, "/v1/instances", false, s.listInstances},
	}
}

func (s *domainRoutes) listDomains(k *call) error {
	if err := k.who.May(access.ActionReadCatalog); err != nil {
		return err
	}
	return sorted(k, s.registry.List(), func(d contracts.DomainView) string { return d.Domain })
}

func (s *domainRoutes) registerDomain(k *call) error {
	if err := k.who.May(access.ActionManageDomains); err != nil {
		return err
	}
	var body contracts.Registration
	if err := k.body(contracts.SchemaRegistration, &body, MaxBody); err != nil {
		return err
	}
	if err := k.who.MayManage(access.ActionManageDomains, body.Domain); err != nil {
		return err
	}
	report, err := s.registry.Register(k.who.WithAuditRecord(k.ctx(), contracts.ActDomainRegistered, body.Domain, body), body)
	return reported(k, http.StatusCreated, report, err)
}

// reported writes a report. With an error, the report is sent as the problem's data, because it says
// what is wrong with the manifest.
func reported(k *call, code int, report contracts.DomainReport, err error) error {
	if err == nil {
		return k.json(code, report)
	}
	if len(report.Findings) == 0 && report.Message == "" {
		return err
	}
	out := contracts.Errorf(contracts.CodeOf(err), "%w", err)
	out.Detail = report
	return out
}

func (s *domainRoutes) showDomain(k *call) error {
	if err := k.who.May(access.ActionReadCatalog); err != nil {
		return err
	}
	detail, err := s.registry.Show(k.param("name"))
	if err != nil {
		return err
	}
	return k.ok(detail)
}

func (s *domainRoutes) unregisterDomain(k *call) error {
	if err := k.who.MayManage(access.ActionManageDomains, k.param("name")); err != nil {
		return err
	}
	if err := s.registry.Unregister(k.who.WithAuditRecord(k.ctx(), contracts.ActDomainRemoved, k.param("name"), nil), k.param("name")); err != nil {
		return err
	}
	s.gone(k.param("name"))
	k.gin.Status(http.StatusNoContent)
	return nil
}

func (s *domainRoutes) refreshDomain(k *call) error {
	if err := k.who.MayManage(access.ActionManageDomains, k.param("name")); err != nil {
		return err
	}
	report, err := s.registry.RefreshDomain(k.ctx(), k.param("name"))
	return reported(k, http.StatusOK, report, err)
}

func (s *domainRoutes) confirmDomain(k *call) error {
	if err := k.who.MayManage(access.ActionManageDomains, k.param("name")); err != nil {
		return err
	}
	var body contracts.ConfirmDomain
	if err := k.body(contracts.SchemaConfirmDomain, &body, MaxBody); err != nil {
		return err
	}
	report, err := s.registry.Confirm(k.who.WithAuditRecord(k.ctx(), contracts.ActDomainConfirmed, k.param("name"), body), k.param("name"), body.Digest)
	return reported(k, http.StatusOK, report, err)
}

// diffDomain calls the service if nothing is pending, so read permission is not enough.
func (s *domainRoutes) diffDomain(k *call) error {
	if err := k.who.MayManage(access.ActionManageDomains, k.param("name")); err != nil {
		return err
	}
	diff, err := s.registry.Diff(k.ctx(), k.param("name"))
	if err != nil {
		return err
	}
	return k.ok(diff)
}

func (s *domainRoutes) listCapabilities(k *call) error {
	views, err := registry.Capabilities(k.who, s.registry.Catalog(), k.query("domain"))
	if err != nil {
		return err
	}
	return sorted(k, views, func(v contracts.CapabilityView) string { return v.Ref })
}

func (s *domainRoutes) listInstances(k *call) error {
	if err := k.who.May(access.ActionReadCatalog); err != nil {
		return err
	}
	var views []contracts.InstanceView
	for _, d := range s.registry.Catalog().Domains {
		for _, i := range d.Manifest.Instances {
			views = append(views, contracts.InstanceView{Domain: d.Name, ID: i.ID, Title: i.Title, Default: i.Default})
		}
	}
	return sorted(k, views, func(v contracts.InstanceView) string { return v.Domain + "/" + v.ID })
}
