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

// FrontendConfig describes what to believe of what a chat frontend tells about its
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
	browsers *browsers
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

// browser finds whom a browser is signed in as.
func (s *callers) browser(c *gin.Context, active bool) (access.Principal, error) {
	in, err := s.browsers.read(c, active)
	if err != nil {
		return in.Who, s.failed(c, err)
	}
	c.Set(keySubject, in.Who.Subject())
	return in.Who, nil
}

// failed bounds how often an address may come with what does not count.
func (s *callers) failed(c *gin.Context, err error) error {
	if contracts.CodeOf(err) == contracts.CodeUnauthorized {
		if limited := s.failures.take(c.ClientIP()); limited != nil {
			return limited
		}
	}
	return err
}

// forwarded returns the person whom a frontend speaks for.
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

// signedUser returns the user whom a frontend has signed; claimed tells that it
// names one besides, which counts for nothing.
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

// spokenFor returns a frontend's user with the roles that the frontend tells of,
// and remembers these for the links of that person.
func (s *callers) spokenFor(who access.Principal, name, role string, vouched bool) (access.Principal, error) {
	who, err := who.ForPerson(name, s.cfg.Frontends.roles(role), vouched)
	if err == nil && role != "" && s.pages != nil {
		s.pages.told.Note(who)
	}
	return who, err
}

// stillMay asks again whether the key counts: a stream must not outlive it.
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
