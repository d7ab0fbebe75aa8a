package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// How long a browser stays signed in.
const (
	// SignInIdle is the maximum time without a request.
	SignInIdle = 2 * time.Hour
	// SignInLongest is the maximum time in total.
	SignInLongest = 12 * time.Hour
	// SignInLink is how long a sign-in link is valid.
	SignInLink = 10 * time.Minute
	// seenEvery is the minimum interval between two stored uses: not each is worth a write.
	seenEvery = time.Minute
)

// The kinds of tokens, as their text begins.
const (
	sessionToken = "mfs_"
	linkToken    = "mfl_"
)

// tokenForm is kind, key, expiry in seconds since 1970, secret, MAC.
var tokenForm = regexp.MustCompile(`^(mf[sl]_)([a-z2-7]{12})_([0-9]{10,12})_[a-z2-7]{52}_([a-z2-7]{52})$`)

// SignIns manages browser sign-ins. A sign-in belongs to the key of a person and ends with it. Its
// token is signed, so that write access to the database is not enough to create one, and the store
// has only its hash. OIDC would need no change: it would create a key that ends with the login.
type SignIns struct {
	keys  *Keys
	store SignInStore
	mac   []byte
	now   func() time.Time
}

// SignIn is one signed-in browser of a person.
type SignIn struct {
	// Token is the value of the browser's cookie.
	Token string
	Who   Principal
	// CSRF is the token that a request with side effects must send as well.
	CSRF string
	// Idle is when it ends without further requests, Ends when it ends in any case.
	Idle, Ends time.Time
}

// NewSignIns returns sign-ins whose tokens are signed with a key of at least 32 bytes, which must
// not be in the database.
func NewSignIns(keys *Keys, store SignInStore, key []byte) *SignIns {
	return &SignIns{keys: keys, store: store, mac: sumOf(key, "manifold sign-in"), now: keys.now}
}

// Link returns the token of a link that signs the caller in once, and when it expires. It needs the
// key of a person: actions in a browser are those of a person.
func (s *SignIns) Link(ctx context.Context, who Principal) (token string, until time.Time, err error) {
	if err := mayBrowse(who); err != nil {
		return "", time.Time{}, err
	}
	return s.issue(ctx, linkToken, who.KeyID, SignInLink)
}

func mayBrowse(who Principal) error {
	if who.Kind != KindUser || who.KeyID == "" {
		return contracts.Errorf(contracts.CodeForbidden, "only people sign in to the page; this is the key of a %s", who.Kind)
	}
	return nil
}

// WithKey signs in with the text of a key.
func (s *SignIns) WithKey(ctx context.Context, text string) (SignIn, error) {
	who, err := s.keys.Authenticate(ctx, text, "")
	if err != nil {
		return SignIn{}, err
	}
	return s.open(ctx, who)
}

// WithLink signs in with a link, which can be used once.
func (s *SignIns) WithLink(ctx context.Context, token string) (SignIn, error) {
	keyID, _, ok := s.read(linkToken, token)
	if !ok {
		return SignIn{}, contracts.Errorf(contracts.CodeUnauthorized, "this link is not valid, or has expired; make a new one with \"manifold open\"")
	}
	first, err := s.store.RemoveSignIn(ctx, hashText(token))
	if err != nil {
		return SignIn{}, fmt.Errorf("use a sign-in link: %w", err)
	}
	if !first {
		return SignIn{}, contracts.Errorf(contracts.CodeUnauthorized, "this link was used already; make a new one with \"manifold open\"")
	}
	who, err := s.keys.Holder(ctx, keyID)
	if err != nil {
		return SignIn{}, err
	}
	return s.open(ctx, who)
}

// open creates a sign-in. Its token is always new, so that a token planted before the sign-in is
// worthless.
func (s *SignIns) open(ctx context.Context, who Principal) (SignIn, error) {
	if err := mayBrowse(who); err != nil {
		return SignIn{}, err
	}
	token, ends, err := s.issue(ctx, sessionToken, who.KeyID, SignInLongest)
	return s.told(token, who, s.now(), ends), err
}

// Read returns the sign-in of a token, or unauthorized if it has ended. active means that the
// person has done something, which extends the idle time.
func (s *SignIns) Read(ctx context.Context, token string, active bool) (SignIn, error) {
	keyID, ends, ok := s.read(sessionToken, token)
	if !ok {
		return SignIn{}, signInAgain()
	}
	seen, err := s.store.SignInSeen(ctx, hashText(token))
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return SignIn{}, signInAgain()
	}
	if err != nil {
		return SignIn{}, fmt.Errorf("read a sign-in: %w", err)
	}
	now := s.now()
	if now.Sub(seen) >= SignInIdle {
		_, err := s.store.RemoveSignIn(ctx, hashText(token))
		return SignIn{}, joined(signInAgain(), err)
	}
	who, err := s.keys.Holder(ctx, keyID)
	if err != nil {
		return SignIn{}, err
	}
	if active && now.Sub(seen) >= seenEvery {
		if err := s.store.SeeSignIn(ctx, hashText(token), now); err != nil {
			return SignIn{}, fmt.Errorf("note a sign-in: %w", err)
		}
		seen = now
	}
	return s.told(token, who, seen, ends), nil
}

func signInAgain() error {
	return contracts.Errorf(contracts.CodeUnauthorized, "you are not signed in any more; sign in again")
}

// joined returns the error of the store if there is one, else the refusal.
func joined(refusal, err error) error {
	if err != nil {
		return fmt.Errorf("end a sign-in: %w", err)
	}
	return refusal
}

// End signs out; an invalid token is no error.
func (s *SignIns) End(ctx context.Context, token string) error {
	if _, _, ok := s.read(sessionToken, token); !ok {
		return nil
	}
	_, err := s.store.RemoveSignIn(ctx, hashText(token))
	return joined(nil, err)
}

func (s *SignIns) told(token string, who Principal, seen, ends time.Time) SignIn {
	idle := seen.Add(SignInIdle)
	if ends.Before(idle) {
		idle = ends
	}
	return SignIn{Token: token, Who: who, CSRF: textOf(sumOf([]byte(token), "csrf")), Idle: idle, Ends: ends}
}

// SameCSRF reports whether a request has sent the right CSRF token.
func (s SignIn) SameCSRF(said string) bool { return hmac.Equal([]byte(s.CSRF), []byte(said)) }

// issue creates a token and stores its hash; it is valid while the store has it.
func (s *SignIns) issue(ctx context.Context, kind, keyID string, life time.Duration) (string, time.Time, error) {
	now := s.now()
	until := now.Add(life).Truncate(time.Second)
	text := kind + keyID + "_" + strconv.FormatInt(until.Unix(), 10) + "_" + randomText(32)
	token := text + "_" + textOf(sumOf(s.mac, text))
	if err := s.store.InsertSignIn(ctx, hashText(token), now, until); err != nil {
		return "", time.Time{}, fmt.Errorf("keep a sign-in: %w", err)
	}
	return token, until, nil
}

// read returns the key id and the expiry of a token that was signed here and has not expired.
func (s *SignIns) read(kind, token string) (keyID string, until time.Time, ok bool) {
	parts := tokenForm.FindStringSubmatch(token)
	if parts == nil || parts[1] != kind {
		return "", until, false
	}
	text := strings.TrimSuffix(token, "_"+parts[4])
	seconds, err := strconv.ParseInt(parts[3], 10, 64)
	until = time.Unix(seconds, 0).UTC()
	ok = err == nil && hmac.Equal([]byte(parts[4]), []byte(textOf(sumOf(s.mac, text)))) && s.now().Before(until)
	return parts[2], until, ok
}

func sumOf(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func textOf(sum []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum))
}
