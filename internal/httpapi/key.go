package httpapi

import (
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

func (s *Server) listKeys(k *call) error {
	page, err := k.page()
	if err != nil {
		return err
	}
	keys, err := s.keys.List(k.ctx(), k.who, page)
	if err != nil {
		return err
	}
	return listAs(k, keys, keyView)
}

func (s *Server) createKey(k *call) error {
	if err := k.who.May(access.ActionManageKeys); err != nil {
		return err
	}
	var body contracts.KeySpec
	if err := k.body(&body, MaxBody); err != nil {
		return err
	}
	spec := access.Spec{
		Name: body.Name, Kind: access.Kind(body.Kind), Principal: body.Principal, ExpiresAt: body.ExpiresAt,
		Scopes: access.Scopes{Domains: body.Scopes.Domains, Classes: body.Scopes.Classes},
	}
	for _, r := range body.Roles {
		spec.Roles = append(spec.Roles, access.Role(r))
	}
	text, key, err := s.keys.Create(k.ctx(), k.who, spec)
	if err != nil {
		return err
	}
	return k.json(http.StatusCreated, contracts.KeyCreated{KeyView: keyView(key), Text: text})
}

func (s *Server) revokeKey(k *call) error {
	if err := s.keys.Revoke(k.ctx(), k.who, k.param("id")); err != nil {
		return err
	}
	k.gin.Status(http.StatusNoContent)
	return nil
}

func keyView(k access.Key) contracts.KeyView {
	return contracts.KeyView{
		ID: k.ID, Name: k.Name, Kind: string(k.Kind), Principal: k.Principal, Roles: names(k.Roles), Scopes: scopes(k.Scopes),
		CreatedBy: k.CreatedBy, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt,
	}
}

// webhookKey shows what receivers check the signatures of webhooks with.
func (s *Server) webhookKey(k *call) error {
	if err := k.who.May(access.ActionManageKeys); err != nil {
		return err
	}
	return k.ok(s.webhook)
}
