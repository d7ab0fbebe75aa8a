package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// FrontendConfig specifies what chat frontends may claim about their users. It applies only to keys
// of kind frontend.
type FrontendConfig struct {
	// JWTSecret verifies the user token that Open WebUI signs
	// (FORWARD_USER_INFO_HEADER_JWT_SECRET). If it is set, unsigned user headers are rejected.
	JWTSecret []byte
	// Roles maps a frontend's role to the roles of its users here. They are limited to those of the key
	// [admin: viewer, operator, approver; user: viewer, requester; pending: none].
	Roles map[string][]access.Role
}

func (f FrontendConfig) roles(name string) []access.Role {
	if name == "" {
		return nil // not reported: those of the key
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

// callers authenticates requests and applies rate limits.
type callers struct {
	cfg     Config
	keys    *access.Keys
	limiter *limiter
	// failures bounds the failed authentications of one address.
	failures *limiter
	pages    *pages // nil without links
	browsers *browsers
}

// identify authenticates the caller and applies the rate limit. Chat requests are limited later,
// where background requests of the frontend are recognised.
func (s *callers) identify(c *gin.Context) (access.Principal, error) {
	if forOpenAI(c) {
		return s.caller(c, true)
	}
	return s.authenticate(c)
}

// authenticate authenticates the caller of a route that is not a chat route.
func (s *callers) authenticate(c *gin.Context) (access.Principal, error) {
	who, err := s.caller(c, false)
	if err != nil {
		return who, err
	}
	return who, s.limiter.take(who.Subject())
}

// caller returns the principal of a request. Unsigned user headers of chat frontends count only in
// chat routes. A signed user counts everywhere; if users are signed, no other claim counts.
func (s *callers) caller(c *gin.Context, chat bool) (access.Principal, error) {
	if c.GetHeader("Authorization") == "" && s.browsers.token(c) != "" {
		return s.browser(c, true)
	}
	scheme, text, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return access.Principal{}, contracts.Errorf(contracts.CodeUnauthorized, "send an API key as Authorization: Bearer mfk_…")
	}
	who, err := s.keys.Authenticate(c.Request.Context(), strings.TrimSpace(text), c.GetHeader(s.cfg.ForwardedUser))
	if err == nil && who.Kind == access.KindFrontend {
		who, err = s.forwarded(c.Request.Header, who, chat)
	}
	if err != nil {
		return who, s.failed(c, err)
	}
	c.Set(keySubject, who.Subject())
	return who, nil
}

// browser returns the principal of a signed-in browser.
func (s *callers) browser(c *gin.Context, active bool) (access.Principal, error) {
	in, err := s.browsers.read(c, active)
	if err != nil {
		return in.Who, s.failed(c, err)
	}
	c.Set(keySubject, in.Who.Subject())
	return in.Who, nil
}

// failed applies the limit on failed authentications of one address.
func (s *callers) failed(c *gin.Context, err error) error {
	if contracts.CodeOf(err) == contracts.CodeUnauthorized {
		if limited := s.failures.take(c.ClientIP()); limited != nil {
			return limited
		}
	}
	return err
}

// forwarded returns the principal that a frontend makes the request for.
func (s *callers) forwarded(h http.Header, who access.Principal, chat bool) (access.Principal, error) {
	var plain frontendUser
	if chat {
		plain = userFromHeaders(h)
	}
	if len(s.cfg.Frontends.JWTSecret) > 0 {
		return s.signedUser(h, who, who.Forwarded != "" || plain.Name() != "")
	}
	if plain.Name() == "" {
		return who, nil
	}
	return s.spokenFor(who, plain.Name(), plain.Role, false)
}

// signedUser returns the user that a frontend has signed. claimed means that unsigned headers name a
// user, which is rejected without a signature.
func (s *callers) signedUser(h http.Header, who access.Principal, claimed bool) (access.Principal, error) {
	signed, _ := frontendHeader(h, "X-OpenWebUI-User-Jwt")
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
	return s.spokenFor(who, user.Name(), cmp.Or(strings.ToLower(user.Role), "user"), true)
}

// spokenFor returns the frontend's user with the roles that the frontend reports, and remembers them
// for the approval links of that person.
func (s *callers) spokenFor(who access.Principal, name, role string, vouched bool) (access.Principal, error) {
	who, err := who.ForPerson(name, s.cfg.Frontends.roles(role), vouched)
	if err == nil && role != "" && s.pages != nil {
		s.pages.told.Note(who)
	}
	return who, err
}

// stillMay reports whether the key is still valid: a stream must end with its key.
func (s *callers) stillMay(k *call) bool {
	var err error
	if k.who.Via == gates.ByPage {
		_, err = s.browser(k.gin, false)
	} else {
		_, err = s.identify(k.gin)
	}
	code := contracts.CodeOf(err)
	return code != contracts.CodeUnauthorized && code != contracts.CodeForbidden
}
