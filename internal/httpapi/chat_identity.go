package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// FrontendConfig says what to believe of what a chat frontend tells about its
// users. It counts only for keys of the kind frontend.
type FrontendConfig struct {
	// JWTSecret checks the signed user of Open WebUI
	// (FORWARD_USER_INFO_HEADER_JWT_SECRET). With one, unsigned user headers are
	// refused.
	JWTSecret []byte
	// Roles are the roles that a user of the frontend has by the frontend's own
	// role, never more than those of the key [admin: viewer, operator, approver;
	// user: viewer, requester; pending: none].
	Roles map[string][]access.Role
}

func (f FrontendConfig) roles(name string) []access.Role {
	if name == "" {
		return nil // the frontend does not say: those of the key
	}
	if roles, ok := f.Roles[name]; ok {
		return slices.Concat([]access.Role{}, roles)
	}
	switch name {
	case "admin":
		return []access.Role{access.RoleViewer, access.RoleOperator, access.RoleApprover}
	case "user":
		return []access.Role{access.RoleViewer, access.RoleRequester}
	default:
		return []access.Role{}
	}
}

// callers says who is asking, and bounds how often they may.
type callers struct {
	cfg     Config
	keys    *access.Keys
	limiter *limiter
	// failures bounds how often an address may come with a key or a person that
	// does not count.
	failures *limiter
	pages    *pages // nil without links
}

// identify finds who is asking, and bounds how often they may. For chat frontends
// that is bounded where it is known whether they ask by themselves.
func (s *callers) identify(c *gin.Context) (access.Principal, error) {
	if forOpenAI(c) {
		return s.caller(c, true)
	}
	return s.authenticate(c)
}

// authenticate finds who is asking where no chat is.
func (s *callers) authenticate(c *gin.Context) (access.Principal, error) {
	who, err := s.caller(c, false)
	if err != nil {
		return who, err
	}
	return who, s.limiter.take(who.Subject())
}

// caller finds for whom a request's key speaks. The headers in which chat
// frontends tell of their users count in chats alone; a signed user counts
// everywhere, and where users are signed nothing else does.
func (s *callers) caller(c *gin.Context, chat bool) (access.Principal, error) {
	scheme, text, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return access.Principal{}, contracts.Errorf(contracts.CodeUnauthorized, "send an API key as Authorization: Bearer mfk_…")
	}
	who, err := s.keys.Authenticate(c.Request.Context(), strings.TrimSpace(text), c.GetHeader(s.cfg.ForwardedUser))
	if err == nil && who.Kind == access.KindFrontend {
		who, err = s.forwarded(c.Request.Header, who, chat)
	}
	if contracts.CodeOf(err) == contracts.CodeUnauthorized {
		if limited := s.failures.take(c.ClientIP()); limited != nil {
			return who, limited
		}
	}
	if err == nil {
		c.Set(keySubject, who.Subject())
	}
	return who, err
}

// chatUser is who a frontend says is asking.
type chatUser struct{ ID, Email, Role string }

// name is what the person is called here: the address, because the same person
// may also have a key of their own under it, and nobody may be their own second
// pair of eyes.
func (u chatUser) name() string { return cmp.Or(strings.ToLower(u.Email), u.ID) }

// forwarded gives the person whom a frontend speaks for.
func (s *callers) forwarded(h http.Header, who access.Principal, chat bool) (access.Principal, error) {
	var plain chatUser
	if chat {
		plain = toldUser(h)
	}
	if len(s.cfg.Frontends.JWTSecret) > 0 {
		return s.signedUser(h, who, who.Forwarded != "" || plain.name() != "")
	}
	if plain.name() == "" {
		return who, nil
	}
	return s.spokenFor(who, plain.name(), plain.Role, false)
}

// toldUser is the user whom a chat frontend tells of in plain headers.
func toldUser(h http.Header) chatUser {
	told := func(what string) string {
		open, _ := given(h, "X-OpenWebUI-User-"+what)
		other, _ := given(h, "X-User-"+what)
		return cmp.Or(open, other)
	}
	return chatUser{ID: told("Id"), Email: told("Email"), Role: strings.ToLower(told("Role"))}
}

// signedUser gives the user whom a frontend has signed; claimed tells that it
// names one besides, which counts for nothing.
func (s *callers) signedUser(h http.Header, who access.Principal, claimed bool) (access.Principal, error) {
	signed, _ := given(h, "X-OpenWebUI-User-Jwt")
	if signed == "" {
		if claimed {
			return who, contracts.Errorf(contracts.CodeUnauthorized, "this server takes only signed users (X-OpenWebUI-User-Jwt)")
		}
		return who, nil
	}
	user, err := verifyUser(signed, s.cfg.Frontends.JWTSecret, s.cfg.Now())
	if err != nil {
		return who, err
	}
	return s.spokenFor(who, user.name(), cmp.Or(strings.ToLower(user.Role), "user"), true)
}

// spokenFor gives a frontend's user with the roles that the frontend tells of,
// and remembers these for the links of that person.
func (s *callers) spokenFor(who access.Principal, name, role string, vouched bool) (access.Principal, error) {
	who, err := who.ForPerson(name, s.cfg.Frontends.roles(role), vouched)
	if err == nil && role != "" && s.pages != nil {
		s.pages.told.note(who)
	}
	return who, err
}

// userClaims are what Open WebUI signs of its user.
type userClaims struct {
	jwt.RegisteredClaims

	Email string `json:"email"`
	Role  string `json:"role"`
}

// verifyUser checks the HS256 token that Open WebUI signs its user with.
func verifyUser(token string, secret []byte, now time.Time) (chatUser, error) {
	var claims userClaims
	_, err := jwt.ParseWithClaims(
		token, &claims, func(*jwt.Token) (any, error) { return secret, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer("open-webui"), jwt.WithExpirationRequired(),
		jwt.WithLeeway(30*time.Second), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	user := chatUser{ID: claims.Subject, Email: claims.Email, Role: claims.Role}
	switch {
	case errors.Is(err, jwt.ErrTokenExpired), errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return chatUser{}, contracts.Errorf(contracts.CodeUnauthorized, "the signed user has expired; do the clocks agree?")
	case err != nil, user.name() == "":
		return chatUser{}, contracts.Errorf(contracts.CodeUnauthorized, "the signed user is not valid; is the secret the same on both sides?")
	}
	return user, nil
}
