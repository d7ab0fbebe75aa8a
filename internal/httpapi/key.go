package httpapi

import (
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// keyRoutes serve the API keys and the webhook key.
type keyRoutes struct {
	keys    *access.Keys
	webhook contracts.WebhookKey
}

func (s *keyRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/v1/keys", false, s.listKeys},
		{http.MethodPost, "/v1/keys", false, s.createKey},
		{http.MethodDelete, "/v1/keys/:id", false, s.revokeKey},
		{http.MethodGet, "/v1/webhooks/key", false, s.webhookKey},
	}
}

func (s *keyRoutes) listKeys(k *call) error {
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

func (s *keyRoutes) createKey(k *call) error {
	if err := k.who.May(access.ActionManageKeys); err != nil {
		return err
	}
	var body contracts.KeySpec
	if err := k.body(contracts.SchemaKeySpec, &body, MaxBody); err != nil {
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

func (s *keyRoutes) revokeKey(k *call) error {
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

// webhookKey returns the key that receivers verify webhook signatures with.
func (s *keyRoutes) webhookKey(k *call) error {
	if err := k.who.MayManage(access.ActionManageKeys, ""); err != nil {
		return err
	}
	return k.ok(s.webhook)
}
