package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// A key's text is "mfk_<id>_<secret>": the prefix lets scanners find leaked keys, the id finds the
// row, the secret has 256 bits.
const keyPrefix = "mfk_"

var (
	nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)
	// A role that a domain defines is granted as "domain:role".
	roleForm = regexp.MustCompile(`^([a-z][a-z0-9_-]{1,31}:)?[a-z][a-z0-9_-]{0,31}$`)
	keyForm  = regexp.MustCompile(`^mfk_([a-z2-7]{12})_[a-z2-7]{52}$`)
)

// Spec describes a key to be created.
type Spec struct {
	Name      string     `json:"name,omitempty"`
	Kind      Kind       `json:"kind"`
	Principal string     `json:"principal"`
	Roles     []Role     `json:"roles"`
	Scopes    Scopes     `json:"scopes,omitzero"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// Keys creates, checks and revokes API keys.
type Keys struct {
	store KeyStore
	now   func() time.Time
}

// NewKeys returns the keys of a store; a nil now means time.Now.
func NewKeys(store KeyStore, now func() time.Time) *Keys {
	if now == nil {
		now = time.Now
	}
	return &Keys{store: store, now: now}
}

// First creates the first key of an installation, with every role, unless a key exists. It calls
// save with the key's text before the key is stored: a process that dies in between leaves a text
// without a key, which the next start replaces, but never a key whose text is lost. Of several
// processes that start together exactly one gets true.
func (k *Keys) First(ctx context.Context, save func(text string) error) (created bool, err error) {
	keys, err := k.store.Keys(ctx, contracts.Page{Limit: 1})
	if err != nil || len(keys.Items) > 0 {
		return false, err
	}
	text, key := k.mint(Spec{
		Name: "first admin key", Kind: KindUser, Principal: "admin",
		Roles: []Role{RoleAdmin, RoleOperator, RoleApprover, RoleViewer},
	}, Principal{Kind: KindUser, ID: "first start"})
	if err := save(text); err != nil {
		return false, fmt.Errorf("save first key: %w", err)
	}
	if created, err = k.store.InsertFirstKey(execution.WithAdminAction(ctx, execution.AdminAction{
		Kind: contracts.ActKeyCreated, Actor: "system", Subject: key.ID, Detail: key.told(),
	}), key); err != nil {
		return false, fmt.Errorf("create first key: %w", err)
	}
	return created, nil
}

// Create creates a key and returns its text, which is not stored. The key cannot have wider scopes
// than the key that creates it.
func (k *Keys) Create(ctx context.Context, by Principal, spec Spec) (text string, key Key, err error) {
	if err := by.May(ActionManageKeys); err != nil {
		return "", Key{}, err
	}
	if faults := spec.faults(k.now()); len(faults) > 0 {
		return "", Key{}, contracts.Invalid("the key cannot be made", faults...)
	}
	if !spec.Scopes.within(by.Scopes) {
		return "", Key{}, contracts.Errorf(contracts.CodeForbidden, "the scopes of a key must lie within those of its maker")
	}
	text, key = k.mint(spec, by)
	if err := k.store.InsertKey(by.WithAuditRecord(ctx, contracts.ActKeyCreated, key.ID, key.told()), key); err != nil {
		return "", Key{}, fmt.Errorf("create key for %s: %w", spec.Principal, err)
	}
	return text, key, nil
}

// told returns what the audit ledger records about a key.
func (k Key) told() map[string]any {
	return map[string]any{"name": k.Name, "kind": k.Kind, "principal": k.Principal, "roles": k.Roles, "scopes": k.Scopes, "expires_at": k.ExpiresAt}
}

// List returns a page of the keys, without secrets.
func (k *Keys) List(ctx context.Context, by Principal, p contracts.Page) (contracts.List[Key], error) {
	if err := by.May(ActionManageKeys); err != nil {
		return contracts.List[Key]{}, err
	}
	out, err := contracts.Filtered(p.Bounded(contracts.MaxPageLimit), func(p contracts.Page) (contracts.List[Key], error) {
		return k.store.Keys(ctx, p)
	}, func(key Key) bool { return key.Scopes.within(by.Scopes) })
	if err != nil {
		return out, fmt.Errorf("list keys: %w", err)
	}
	return out, nil
}

// Revoke revokes a key at once. It returns conflict for an admin key if no other usable admin key
// without scopes remains, so that an installation cannot lock itself out.
func (k *Keys) Revoke(ctx context.Context, by Principal, id string) error {
	if err := by.May(ActionManageKeys); err != nil {
		return err
	}
	all, err := k.store.Keys(ctx, contracts.Page{})
	if err != nil {
		return fmt.Errorf("list keys: %w", err)
	}
	keys, now := all.Items, k.now()
	others := func(key Key) bool {
		return key.ID != id && key.usable(now) == nil && slices.Contains(key.Roles, RoleAdmin) && key.Scopes.All()
	}
	mine := slices.IndexFunc(keys, func(key Key) bool { return key.ID == id })
	if mine < 0 || !keys[mine].Scopes.within(by.Scopes) {
		return contracts.Errorf(contracts.CodeNotFound, "there is no key %q", id)
	}
	if slices.Contains(keys[mine].Roles, RoleAdmin) && !slices.ContainsFunc(keys, others) {
		return contracts.Errorf(contracts.CodeConflict, "%s is the last key of an admin; make another one first", id)
	}
	if err := k.store.RevokeKey(by.WithAuditRecord(ctx, contracts.ActKeyRevoked, id, nil), id, now); err != nil {
		return fmt.Errorf("revoke key %s: %w", id, err)
	}
	return nil
}

// Authenticate returns the principal of a key's text. forwarded is the person that the request
// names; it is used for frontend keys and ignored for all others.
func (k *Keys) Authenticate(ctx context.Context, text, forwarded string) (Principal, error) {
	parts := keyForm.FindStringSubmatch(text)
	if parts == nil {
		return Principal{}, contracts.Errorf(contracts.CodeUnauthorized, "this is no API key; keys begin with %s", keyPrefix)
	}
	key, err := k.store.Key(ctx, parts[1])
	if err != nil && contracts.CodeOf(err) != contracts.CodeNotFound {
		return Principal{}, fmt.Errorf("read key: %w", err)
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(key.Hash), []byte(hashText(text))) != 1 {
		return Principal{}, contracts.Errorf(contracts.CodeUnauthorized, "there is no such API key")
	}
	if err := key.usable(k.now()); err != nil {
		return Principal{}, err
	}
	p := key.holder()
	if key.Kind == KindFrontend && forwarded != "" {
		if !nameForm.MatchString(forwarded) {
			return Principal{}, contracts.Errorf(contracts.CodeInvalid, "the forwarded user must match %s", nameForm)
		}
		p.Forwarded = forwarded
	}
	return p, nil
}

// Holder returns the principal of a key by the key's id, for tokens that were signed in its name. A
// revoked or expired key returns the same error as Authenticate.
func (k *Keys) Holder(ctx context.Context, id string) (Principal, error) {
	key, err := k.store.Key(ctx, id)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return Principal{}, contracts.Errorf(contracts.CodeUnauthorized, "there is no such API key")
	}
	if err != nil {
		return Principal{}, fmt.Errorf("read key: %w", err)
	}
	if err := key.usable(k.now()); err != nil {
		return Principal{}, err
	}
	return key.holder(), nil
}

// mint creates a key with its text; the store gets only the hash.
func (k *Keys) mint(spec Spec, by Principal) (string, Key) {
	id := randomText(8)[:12]
	text := keyPrefix + id + "_" + randomText(32)
	return text, Key{
		ID: id, Hash: hashText(text), Name: spec.Name, Kind: spec.Kind, Principal: spec.Principal,
		Roles: slices.Clone(spec.Roles), RolesVersion: rolesVersion, Scopes: spec.Scopes, CreatedBy: by.Subject(), CreatedWith: by.KeyID, CreatedAt: k.now().UTC(),
		ExpiresAt: spec.ExpiresAt,
	}
}

func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never returns an error
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// hashText needs no salt and no slow hash: the secret has 256 random bits.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// usable returns an error if the key is revoked or has expired.
func (k Key) usable(now time.Time) error {
	switch {
	case k.RevokedAt != nil:
		return contracts.Errorf(contracts.CodeUnauthorized, "the API key %s was revoked", k.ID)
	case k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return contracts.Errorf(contracts.CodeUnauthorized, "the API key %s has expired", k.ID)
	}
	return nil
}

func (s Spec) faults(now time.Time) []contracts.Fault {
	var faults []contracts.Fault
	add := func(pointer, message string) {
		faults = append(faults, contracts.Fault{Pointer: pointer, Message: message})
	}
	switch s.Kind {
	case KindUser, KindService, KindFrontend:
	default:
		add("/kind", "must be user, service or frontend")
	}
	if !nameForm.MatchString(s.Principal) {
		add("/principal", "must match "+nameForm.String())
	}
	if len(s.Name) > 200 || s.Name != contracts.CleanSummary(s.Name) {
		add("/name", "must be one line of at most 200 bytes")
	}
	if len(s.Roles) == 0 {
		add("/roles", "must name at least one role")
	}
	for i, r := range s.Roles {
		if !roleForm.MatchString(string(r)) {
			add(fmt.Sprintf("/roles/%d", i), "must match "+roleForm.String())
		}
	}
	for i, c := range s.Scopes.Classes {
		switch c {
		case contracts.ClassRead, contracts.ClassSuggest, contracts.ClassWriteReversible, contracts.ClassWriteIrreversible:
		default:
			add(fmt.Sprintf("/scopes/classes/%d", i), "must be a side-effect class")
		}
	}
	if s.ExpiresAt != nil && !s.ExpiresAt.After(now) {
		add("/expires_at", "must be in the future")
	}
	return faults
}
