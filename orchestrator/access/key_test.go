package access_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
)

var start = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

// bundle is a fresh set of keys with an admin.
type bundle struct {
	keys  *access.Keys
	store *accesstest.Store
	now   time.Time
	admin access.Principal
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{store: accesstest.NewStore(), now: start}
	b.keys = access.NewKeys(b.store, func() time.Time { return b.now })
	var text string
	created, err := b.keys.First(t.Context(), func(made string) error { text = made; return nil })
	if err != nil || !created {
		t.Fatalf("first key: created %v, %v", created, err)
	}
	b.admin = b.authenticate(t, text, "")
	return b
}

func (b *bundle) authenticate(t *testing.T, text, forwarded string) access.Principal {
	t.Helper()
	p, err := b.keys.Authenticate(t.Context(), text, forwarded)
	if err != nil {
		t.Fatalf("authenticate: %v", err)
	}
	return p
}

func (b *bundle) create(t *testing.T, spec access.Spec) (string, access.Key) {
	t.Helper()
	text, key, err := b.keys.Create(t.Context(), b.admin, spec)
	if err != nil {
		t.Fatalf("create key for %s: %v", spec.Principal, err)
	}
	return text, key
}

func user(name string, roles ...access.Role) access.Spec {
	return access.Spec{Kind: access.KindUser, Principal: name, Roles: roles}
}

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := user("ana", access.RoleOperator, "recruiter")
	spec.Scopes = access.Scopes{Domains: []string{"alpha"}}
	text, key := b.create(t, spec)
	got := b.authenticate(t, text, "")
	want := access.Principal{KeyID: key.ID, Kind: access.KindUser, ID: "ana", Roles: spec.Roles, Scopes: spec.Scopes}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text func(t *testing.T, b *bundle) string
		says string
	}{
		"a text that is no key": {
			func(*testing.T, *bundle) string { return "secret" }, "no API key",
		},
		"a well-formed key that nobody made": {
			func(*testing.T, *bundle) string { return "mfk_aaaaaaaaaaaa_" + strings.Repeat("b", 52) }, "no such",
		},
		"the right id with another secret": {
			func(t *testing.T, b *bundle) string {
				t.Helper()
				_, key := b.create(t, user("ana", access.RoleViewer))
				return "mfk_" + key.ID + "_" + strings.Repeat("b", 52)
			}, "no such",
		},
		"a revoked key": {
			func(t *testing.T, b *bundle) string {
				t.Helper()
				text, key := b.create(t, user("ana", access.RoleViewer))
				if err := b.keys.Revoke(t.Context(), b.admin, key.ID); err != nil {
					t.Fatal(err)
				}
				return text
			}, "revoked",
		},
		"a key at the moment it expires": {
			func(t *testing.T, b *bundle) string {
				t.Helper()
				spec, expires := user("ana", access.RoleViewer), start.Add(time.Hour)
				spec.ExpiresAt = &expires
				text, _ := b.create(t, spec)
				b.now = expires
				return text
			}, "expired",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, err := b.keys.Authenticate(t.Context(), tt.text(t, b), "")
			wantCode(t, err, contracts.CodeUnauthorized)
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}

func TestForwardedUser(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind      access.Kind
		forwarded string
		person    string
		subject   string
	}{
		"a frontend speaks for whom it forwards": {access.KindFrontend, "bo@example.org", "bo@example.org", "bo@example.org"},
		"a frontend alone is no person":          {access.KindFrontend, "", "", "frontend:gate"},
		"a service cannot forward anybody":       {access.KindService, "bo", "", "service:gate"},
		"a user cannot pose as another":          {access.KindUser, "bo", "gate", "gate"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			text, _ := b.create(t, access.Spec{Kind: tt.kind, Principal: "gate", Roles: []access.Role{access.RoleViewer}})
			p := b.authenticate(t, text, tt.forwarded)
			if p.Person() != tt.person || p.Subject() != tt.subject {
				t.Errorf("person %q, subject %q; want %q, %q", p.Person(), p.Subject(), tt.person, tt.subject)
			}
			if got := access.SubjectOf(p.Contract()); got != tt.subject {
				t.Errorf("the stored principal's subject is %q, want %q", got, tt.subject)
			}
		})
	}
}

func TestForwardedUserCannotPoseAsAProgram(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, _ := b.create(t, access.Spec{Kind: access.KindFrontend, Principal: "gate", Roles: []access.Role{access.RoleViewer}})
	_, err := b.keys.Authenticate(t.Context(), text, "service:payroll")
	wantCode(t, err, contracts.CodeInvalid)
}

func TestStoredKeyHoldsNoSecret(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, key := b.create(t, user("ana", access.RoleViewer))
	secret := text[len(text)-52:]
	stored, err := b.store.Key(t.Context(), key.ID)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stored.Hash+stored.ID+stored.Name, secret) {
		t.Error("the stored key holds its secret")
	}
	if stored.CreatedBy != "admin" || !stored.CreatedAt.Equal(start) {
		t.Errorf("created by %q at %v", stored.CreatedBy, stored.CreatedAt)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	past := start
	tests := map[string]struct {
		spec access.Spec
		want []string
	}{
		"a kind that is none": {
			access.Spec{Kind: "robot", Principal: "x", Roles: []access.Role{access.RoleViewer}}, []string{"/kind"},
		},
		"a principal with a colon, which programs have": {user("service:x", access.RoleViewer), []string{"/principal"}},
		"no role and an expiry that has passed": {
			access.Spec{Kind: access.KindUser, Principal: "x", ExpiresAt: &past}, []string{"/roles", "/expires_at"},
		},
		"a role that is no word": {user("x", access.RoleViewer, "Big Boss"), []string{"/roles/1"}},
		"a class that is none": {
			access.Spec{
				Kind: access.KindUser, Principal: "x", Roles: []access.Role{access.RoleViewer},
				Scopes: access.Scopes{Classes: []contracts.SideEffectClass{"read", "rite"}},
			}, []string{"/scopes/classes/1"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, _, err := b.keys.Create(t.Context(), b.admin, tt.spec)
			wantCode(t, err, contracts.CodeInvalid)
			if diff := cmp.Diff(tt.want, pointers(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func pointers(err error) []string {
	fault, ok := err.(*contracts.Error) //nolint:errorlint // the error is not wrapped
	if !ok {
		return nil
	}
	var out []string
	for _, f := range fault.Faults {
		out = append(out, f.Pointer)
	}
	return out
}

func TestKeysAreForAdmins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, _ := b.create(t, user("ana", access.RoleOperator, access.RoleApprover))
	ana := b.authenticate(t, text, "")
	_, _, err := b.keys.Create(t.Context(), ana, user("eve", access.RoleAdmin))
	wantCode(t, err, contracts.CodeForbidden)
	_, err = b.keys.List(t.Context(), ana, contracts.Page{})
	wantCode(t, err, contracts.CodeForbidden)
	wantCode(t, b.keys.Revoke(t.Context(), ana, b.admin.KeyID), contracts.CodeForbidden)
}

func TestKeyReachesNoFurtherThanItsMaker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	narrow := user("site", access.RoleAdmin)
	narrow.Scopes = access.Scopes{Domains: []string{"alpha", "beta"}}
	text, _ := b.create(t, narrow)
	site := b.authenticate(t, text, "")
	for domain, want := range map[string]contracts.Code{"": contracts.CodeForbidden, "gamma": contracts.CodeForbidden, "beta": ""} {
		spec := user("x", access.RoleViewer)
		if domain != "" {
			spec.Scopes.Domains = []string{domain}
		}
		_, _, err := b.keys.Create(t.Context(), site, spec)
		wantCode(t, err, want)
	}
}

func TestLastAdminKeyIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	expires := start.Add(time.Minute)
	second := user("second", access.RoleAdmin)
	second.ExpiresAt = &expires
	text, key := b.create(t, second)
	other := b.authenticate(t, text, "")
	if err := b.keys.Revoke(t.Context(), other, b.admin.KeyID); err != nil {
		t.Fatalf("with two admins one can go: %v", err)
	}
	wantCode(t, b.keys.Revoke(t.Context(), other, key.ID), contracts.CodeConflict)
	wantCode(t, b.keys.Revoke(t.Context(), other, "nobody"), contracts.CodeNotFound)
}

func TestFirstKey(t *testing.T) {
	t.Parallel()
	keys := access.NewKeys(accesstest.NewStore(), nil)
	texts := make(chan string, 8)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var text string
			created, err := keys.First(context.WithoutCancel(t.Context()), func(made string) error { text = made; return nil })
			if err != nil {
				t.Error(err)
			}
			if created {
				texts <- text
			}
		})
	}
	wg.Wait()
	close(texts)
	if len(texts) != 1 {
		t.Fatalf("%d processes were given a first key, want 1", len(texts))
	}
	p, err := keys.Authenticate(t.Context(), <-texts, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range access.Actions() {
		if err := p.May(a); err != nil {
			t.Errorf("the first key: %v", err)
		}
	}
}

func TestFirstKeyIsSavedBeforeItCounts(t *testing.T) {
	t.Parallel()
	keys := access.NewKeys(accesstest.NewStore(), nil)
	diskFull := errors.New("disk full")
	if _, err := keys.First(t.Context(), func(string) error { return diskFull }); !errors.Is(err, diskFull) {
		t.Fatalf("got %v, want the fault of saving", err)
	}
	var text string
	created, err := keys.First(t.Context(), func(made string) error { text = made; return nil })
	if err != nil || !created {
		t.Fatalf("after a failed start: created %v, %v", created, err)
	}
	if _, err := keys.Authenticate(t.Context(), text, ""); err != nil {
		t.Error(err)
	}
}

// Before requester and auditor were Manifold's roles, keys may have had them as roles of a domain.
func TestNoStoredKeyGainsARightByANewWord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, key := b.create(t, user("ana", access.RoleRequester, access.RoleAuditor))
	now := b.authenticate(t, text, "")
	key.RolesVersion = 0
	if err := b.store.RevokeKey(t.Context(), key.ID, b.now); err != nil {
		t.Fatal(err)
	}
	old := &bundle{store: accesstest.NewStore(), now: start}
	old.keys = access.NewKeys(old.store, func() time.Time { return old.now })
	if err := old.store.InsertKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	before := old.authenticate(t, text, "")
	for _, a := range access.Actions() {
		if before.May(a) == nil {
			t.Errorf("an old key may %s by a word that is a role now", a)
		}
	}
	if before.Covers("alpha", contracts.ClassWriteReversible) == nil {
		t.Error("an old key may write by a word that is a role now")
	}
	if !before.Has(access.RoleAuditor) {
		t.Error("an old key has lost a word of its own")
	}
	if now.May(access.ActionAudit) != nil || now.Covers("alpha", contracts.ClassWriteReversible) != nil {
		t.Error("a new key has not got what the words mean")
	}
}
