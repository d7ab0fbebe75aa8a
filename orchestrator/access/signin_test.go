package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
)

// browser is a person's key, and the sign-ins of an installation.
type browser struct {
	t       *testing.T
	now     time.Time
	store   *accesstest.Store
	keys    *access.Keys
	signIns *access.SignIns
	admin   access.Principal
	text    string
	key     access.Key
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, now: start, store: accesstest.NewStore()}
	b.keys = access.NewKeys(b.store, func() time.Time { return b.now })
	b.signIns = access.NewSignIns(b.keys, b.store, []byte(strings.Repeat("k", 32)))
	b.admin = access.Principal{Kind: access.KindUser, ID: "root", Roles: []access.Role{access.RoleAdmin}}
	b.text, b.key = b.make(access.Spec{Kind: access.KindUser, Principal: "rita", Roles: []access.Role{access.RoleOperator}})
	b.make(access.Spec{Kind: access.KindUser, Principal: "root", Roles: []access.Role{access.RoleAdmin}})
	return b
}

func (b *browser) make(spec access.Spec) (string, access.Key) {
	b.t.Helper()
	text, key, err := b.keys.Create(b.t.Context(), b.admin, spec)
	if err != nil {
		b.t.Fatal(err)
	}
	return text, key
}

func (b *browser) signIn() access.SignIn {
	b.t.Helper()
	in, err := b.signIns.WithKey(b.t.Context(), b.text)
	if err != nil {
		b.t.Fatal(err)
	}
	return in
}

func (b *browser) want(token string, code contracts.Code) {
	b.t.Helper()
	in, err := b.signIns.Read(b.t.Context(), token, true)
	if got := contracts.CodeOf(err); got != code {
		b.t.Fatalf("got %v, %v; want code %q", in.Who.Subject(), err, code)
	}
	if err == nil && in.Who.Subject() != "rita" {
		b.t.Errorf("signed in as %s", in.Who.Subject())
	}
}

func TestASignInEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]func(b *browser, in access.SignIn){
		"when its person signs out": func(b *browser, in access.SignIn) {
			if err := b.signIns.End(b.t.Context(), in.Token); err != nil {
				b.t.Fatal(err)
			}
		},
		"when nothing is done for long": func(b *browser, _ access.SignIn) { b.now = b.now.Add(access.SignInIdle) },
		"after its longest time, whatever is done": func(b *browser, in access.SignIn) {
			for end := b.now.Add(access.SignInLongest); b.now.Before(end); b.now = b.now.Add(access.SignInIdle / 2) {
				b.want(in.Token, "")
			}
		},
		"when its key is revoked": func(b *browser, _ access.SignIn) {
			if err := b.keys.Revoke(b.t.Context(), b.admin, b.key.ID); err != nil {
				b.t.Fatal(err)
			}
		},
		"when streams alone ask for it": func(b *browser, in access.SignIn) {
			for range 4 {
				b.now = b.now.Add(access.SignInIdle / 4)
				_, _ = b.signIns.Read(b.t.Context(), in.Token, false)
			}
		},
		"when the key of the tokens is another": func(b *browser, _ access.SignIn) {
			b.signIns = access.NewSignIns(b.keys, b.store, []byte(strings.Repeat("n", 32)))
		},
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBrowser(t)
			in := b.signIn()
			b.want(in.Token, "")
			end(b, in)
			b.want(in.Token, contracts.CodeUnauthorized)
		})
	}
}

func TestATokenThatIsNotOursSignsNobodyIn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	in := b.signIn()
	_, other := b.make(access.Spec{Kind: access.KindUser, Principal: "otto", Roles: []access.Role{access.RoleApprover}})
	link, _, err := b.signIns.Link(t.Context(), in.Who)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"nothing": "", "the key itself": b.text, "a link": link,
		"another key's id":  strings.Replace(in.Token, b.key.ID, other.ID, 1),
		"a later end":       strings.Replace(in.Token, "_17", "_27", 1),
		"a cut token":       in.Token[:len(in.Token)-1],
		"another secret":    in.Token[:30] + flip(in.Token[30:31]) + in.Token[31:],
		"a token as a link": "mfl_" + in.Token[4:],
	} {
		if _, err := b.signIns.Read(t.Context(), token, true); contracts.CodeOf(err) != contracts.CodeUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.signIns.WithLink(t.Context(), in.Token); contracts.CodeOf(err) != contracts.CodeUnauthorized {
		t.Errorf("a session is no link: %v", err)
	}
}

func flip(s string) string {
	if s == "a" {
		return "b"
	}
	return "a"
}

func TestALinkSignsInOnceAndSoon(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	rita := b.signIn().Who
	link := func() string {
		t.Helper()
		token, until, err := b.signIns.Link(t.Context(), rita)
		if err != nil || !until.Equal(b.now.Add(access.SignInLink)) {
			t.Fatalf("a link until %v, %v", until, err)
		}
		return token
	}
	used, late, revoked := link(), link(), link()
	in, err := b.signIns.WithLink(t.Context(), used)
	if err != nil || in.Who.Subject() != "rita" {
		t.Fatalf("%+v, %v", in, err)
	}
	b.want(in.Token, "")
	if _, err := b.signIns.WithLink(t.Context(), used); contracts.CodeOf(err) != contracts.CodeUnauthorized {
		t.Errorf("used twice: %v", err)
	}
	if err := b.keys.Revoke(t.Context(), b.admin, b.key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.signIns.WithLink(t.Context(), revoked); contracts.CodeOf(err) != contracts.CodeUnauthorized {
		t.Errorf("its key was revoked: %v", err)
	}
	b.now = b.now.Add(access.SignInLink)
	if _, err := b.signIns.WithLink(t.Context(), late); contracts.CodeOf(err) != contracts.CodeUnauthorized {
		t.Errorf("used late: %v", err)
	}
}

func TestOnlyPeopleSignIn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for _, kind := range []access.Kind{access.KindService, access.KindFrontend} {
		text, _ := b.make(access.Spec{Kind: kind, Principal: "program", Roles: []access.Role{access.RoleAdmin}})
		if _, err := b.signIns.WithKey(t.Context(), text); contracts.CodeOf(err) != contracts.CodeForbidden {
			t.Errorf("a %s: %v", kind, err)
		}
	}
	if _, _, err := b.signIns.Link(t.Context(), access.Principal{Kind: access.KindService, ID: "program"}); contracts.CodeOf(err) != contracts.CodeForbidden {
		t.Errorf("a link: %v", err)
	}
}

func TestEachSignInHasItsOwnTokens(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	one, two := b.signIn(), b.signIn()
	if one.Token == two.Token || one.CSRF == two.CSRF || !one.SameCSRF(one.CSRF) || one.SameCSRF(two.CSRF) || one.SameCSRF("") {
		t.Errorf("%+v\n%+v", one, two)
	}
	again, err := b.signIns.Read(t.Context(), one.Token, true)
	if err != nil || again.CSRF != one.CSRF {
		t.Errorf("%+v, %v", again, err)
	}
}
