package httpapi

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// LinkConfig configures the links to approval pages.
type LinkConfig struct {
	// PublicURL is the URL of this server for people; without it there are no links.
	PublicURL string
	// Key signs the links; it has at least 32 bytes.
	Key []byte
	// TTL is how long a link is valid; it also ends with its gate [1h].
	TTL time.Duration
	// Others are people without a key whom another interface authenticates.
	Others []access.Principal
}

// pages holds what the approval pages need.
type pages struct {
	base   string
	ttl    time.Duration
	signer chat.Signer
	cross  *http.CrossOriginProtection
	html   *template.Template
	told   *lastRoles
	others []access.Principal
}

func newPages(cfg LinkConfig, now func() time.Time) (*pages, error) {
	if cfg.PublicURL == "" {
		return nil, nil //nolint:nilnil // there are no links
	}
	at, err := url.Parse(cfg.PublicURL)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return nil, errors.New("httpapi: the public URL of links must be https://host/path without user, query and fragment")
	case at.Scheme != "https" && (at.Scheme != "http" || !local(at.Hostname())):
		return nil, errors.New("httpapi: links need https, except on this machine")
	case len(cfg.Key) < 32:
		return nil, errors.New("httpapi: the key of links needs at least 32 bytes")
	case cfg.TTL < 0:
		return nil, errors.New("httpapi: links cannot expire before they are made")
	}
	p := &pages{
		base: strings.TrimRight(cfg.PublicURL, "/"), ttl: cmp.Or(cfg.TTL, time.Hour), signer: chat.NewSigner(cfg.Key),
		cross: http.NewCrossOriginProtection(), others: cfg.Others,
	}
	p.told = newLastRoles(p.ttl, now)
	if p.html, err = template.New("link").Parse(linkHTML); err != nil {
		return nil, err
	}
	return p, p.cross.AddTrustedOrigin(at.Scheme + "://" + at.Host)
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// linkRoutes serve the approval pages that links lead to.
type linkRoutes struct {
	cfg          Config
	conversation *conversation.Conversation
	gates        *gates.Gates
	keys         *access.Keys
	limiter      *limiter
	callers      *callers
	problems     *problems
	pages        *pages // nil without links
}

func (s *linkRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/approve/:token", true, s.showLink},
		{http.MethodPost, "/approve/:token", true, s.decideLink},
	}
}

// links returns the approval pages of the open gates that the caller may approve. Only a person gets
// links.
func (s *linkRoutes) links(who access.Principal, state orchestrator.SessionView) map[string]string {
	if s.pages == nil || who.Person() == "" {
		return nil
	}
	out := map[string]string{}
	for _, i := range state.Open {
		if slices.Contains(state.MayApprove, i.Code) {
			out[i.Code] = s.page(who, i)
		}
	}
	return out
}

// page returns the URL of a gate's approval page, "" if this server has no such pages.
func (s *linkRoutes) page(who access.Principal, i contracts.Interrupt) string {
	if s.pages == nil || who.Person() == "" {
		return ""
	}
	link := chat.LinkFor(who, i, s.cfg.Now().Add(s.pages.ttl))
	return s.pages.base + "/approve/" + s.pages.signer.LinkToken(link)
}

// refusal is an error that says why a link is not accepted.
type refusal struct {
	status int
	kind   string
	text   string
}

func (r *refusal) Error() string { return r.kind + ": " + r.text }

func refuseLink(status int, kind, text string) error { return &refusal{status, kind, text} }

// linked is a link with the current state of its person and gate.
type linked struct {
	link chat.Link
	who  access.Principal
	gate contracts.Interrupt
}

// readLink reads the link of a request and rejects an invalid one.
func (s *linkRoutes) readLink(c *gin.Context) (linked, error) {
	link, ok := s.pages.signer.ReadLink(c.Param("token"))
	switch {
	case !ok:
		return linked{}, refuseLink(http.StatusBadRequest, "invalid", "This link is not valid. It was cut off or changed, or another server has made it.")
	case link.Expired(s.cfg.Now()):
		return linked{}, refuseLink(http.StatusGone, "expired", "This link has expired. Ask in the chat again, for example with “status”, and take the new one.")
	}
	who, err := s.reviewer(c, link)
	if err != nil {
		return linked{}, err
	}
	c.Set(keySubject, who.Subject())
	if err := s.limiter.take(who.Subject()); err != nil {
		return linked{}, err
	}
	gate, err := s.gates.Get(c.Request.Context(), who, link.GateID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return linked{}, refuseLink(http.StatusForbidden, "not_yours", "There is nothing here that "+who.Subject()+" may decide now.")
	}
	return linked{link, who, gate}, cmp.Or(err, open(gate, who))
}

// open returns an error if a gate can no longer be decided through its link.
func open(gate contracts.Interrupt, who access.Principal) error {
	switch {
	case gates.HasDecided(gate, who.Subject()):
		return refuseLink(http.StatusConflict, "used", "You have decided "+gate.Code+" already: it is "+string(gate.Status)+". A link counts once.")
	case gate.Status == contracts.InterruptSuperseded:
		return refuseLink(http.StatusConflict, "changed", "What "+gate.Code+" was about has changed, or was cancelled. Look in the chat for what waits now.")
	case gate.Status != contracts.InterruptOpen:
		return refuseLink(http.StatusConflict, "decided", gate.Code+" is "+string(gate.Status)+" already.")
	}
	return nil
}

// reviewer returns the person of a link with their current rights, as far as they are known here,
// and never with more than they had when the link was created. If the request is authenticated
// itself, as behind a proxy with a login, it must be by the same person.
func (s *linkRoutes) reviewer(c *gin.Context, link chat.Link) (access.Principal, error) {
	who, err := s.holder(c.Request.Context(), link)
	if code := contracts.CodeOf(err); code == contracts.CodeUnauthorized || code == contracts.CodeInvalid {
		return who, refuseLink(http.StatusForbidden, "not_yours", "The key that this link was made with does not count any more.")
	}
	if err != nil || c.GetHeader("Authorization") == "" {
		return who, err
	}
	caller, err := s.callers.authenticate(c)
	if contracts.CodeOf(err) == contracts.CodeUnauthorized || err == nil && caller.Subject() != who.Subject() {
		return who, refuseLink(http.StatusForbidden, "not_yours", "This link was made for somebody else.")
	}
	return who, err
}

func (s *linkRoutes) holder(ctx context.Context, link chat.Link) (access.Principal, error) {
	if link.KeyID == "" {
		return s.pages.withoutKey(link)
	}
	who, err := s.keys.Holder(ctx, link.KeyID)
	if err != nil {
		return who, err
	}
	if who.Kind == access.KindFrontend {
		if who, err = who.ForPerson(link.Person, nil, link.Vouched); err != nil {
			return who, err
		}
		who = s.pages.told.Narrow(who)
	}
	if who.Person() != link.Person {
		return who, contracts.Errorf(contracts.CodeUnauthorized, "the key speaks for somebody else")
	}
	return link.Narrow(who), nil
}

// withoutKey returns the principal of a link whose person another interface still authenticates.
func (p *pages) withoutKey(link chat.Link) (access.Principal, error) {
	at := slices.IndexFunc(p.others, func(who access.Principal) bool { return who.Person() == link.Person })
	if at < 0 {
		return access.Principal{}, contracts.Errorf(contracts.CodeUnauthorized, "nobody vouches for %s any more", link.Person)
	}
	return link.Narrow(p.others[at]), nil
}

// showLink shows the action to decide. It changes nothing: link previews would decide otherwise.
func (s *linkRoutes) showLink(k *call) error {
	if s.pages == nil {
		return noLinks()
	}
	l, err := s.readLink(k.gin)
	if err != nil {
		return s.refusePage(k, err)
	}
	return s.write(k, http.StatusOK, confirmPage(l))
}

func noLinks() error {
	return contracts.Errorf(contracts.CodeNotFound, "this server has no approval links")
}

// maxForm bounds the form of a decision, in bytes.
const maxForm = 16 << 10

// decideLink applies the decision of an approval page, once.
func (s *linkRoutes) decideLink(k *call) error {
	if s.pages == nil {
		return noLinks()
	}
	c := k.gin
	l, err := s.readLink(c)
	if err != nil {
		return s.refusePage(k, err)
	}
	if s.pages.cross.Check(c.Request) != nil {
		return s.refusePage(k, refuseLink(http.StatusForbidden, "cross_site", "Another page has sent this. Open the link itself and decide there."))
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	if err := c.Request.ParseForm(); err != nil {
		return s.refusePage(k, refuseLink(http.StatusBadRequest, "invalid", "The form could not be read."))
	}
	form := c.Request.PostForm
	d := contracts.Decision(form.Get("decision"))
	if d != contracts.DecisionApprove && d != contracts.DecisionReject || form.Get("action_sha256") != l.link.ActionSHA256 {
		return s.refusePage(k, refuseLink(http.StatusBadRequest, "invalid", "This is not the form of the page. Open the link and decide there."))
	}
	l.who.Via, l.who.From = gates.ByLink, c.ClientIP()
	outcome, err := s.conversation.Handle(k.ctx(), l.who, conversation.Input{Gate: l.gate.InterruptID, Resume: &contracts.Resume{
		Decision: d, ActionSHA256: l.link.ActionSHA256, Comment: contracts.CleanSummary(form.Get("comment")),
	}})
	if err != nil {
		return s.refusePage(k, err)
	}
	return s.write(k, http.StatusOK, donePage(outcome.Decided))
}
