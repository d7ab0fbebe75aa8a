package httpapi

import (
	"net/http"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// auditRoutes serve the audit log: verification, signed roots and proofs.
type auditRoutes struct{ ledgers *audit.Audit }

func (s *auditRoutes) routes() []route {
	return []route{
		{http.MethodPost, "/v1/audit/verify", false, s.verify},
		{http.MethodGet, "/v1/audit/root", false, s.root},
		{http.MethodGet, "/v1/audit/proof", false, s.proof},
		{http.MethodGet, "/v1/audit/consistency", false, s.consistency},
	}
}

func (s *auditRoutes) verify(k *call) error {
	var body contracts.AuditRequest
	if k.gin.Request.ContentLength != 0 {
		if err := k.body(contracts.SchemaAuditRequest, &body, MaxBody); err != nil {
			return err
		}
	}
	report, err := s.ledgers.Verify(k.ctx(), k.who, body.RunID)
	if err != nil {
		return err
	}
	return k.ok(report)
}

func (s *auditRoutes) root(k *call) error {
	root, err := s.ledgers.Root(k.ctx(), k.who)
	if err != nil {
		return err
	}
	return k.ok(root)
}

func (s *auditRoutes) proof(k *call) error {
	seq, err := positive(k, "seq")
	if err != nil {
		return err
	}
	proof, err := s.ledgers.Prove(k.ctx(), k.who, k.query("run_id"), seq)
	if err != nil {
		return err
	}
	return k.ok(proof)
}

func (s *auditRoutes) consistency(k *call) error {
	from, err := positive(k, "from")
	if err != nil {
		return err
	}
	proof, err := s.ledgers.Consistency(k.ctx(), k.who, from)
	if err != nil {
		return err
	}
	return k.ok(proof)
}

// positive reads a required positive number from the query.
func positive(k *call, name string) (int64, error) {
	n, err := strconv.ParseInt(k.query(name), 10, 64)
	if err != nil || n < 1 {
		return 0, contracts.Errorf(contracts.CodeInvalid, "%s must be a number from 1 on", name)
	}
	return n, nil
}
