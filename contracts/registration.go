package contracts

import (
	"encoding/json"
	"slices"
	"strings"
)

// Trust restricts which capabilities of a domain may be used.
type Trust string

// The trust levels. An absent level is full.
const (
	TrustFull      Trust = "full"
	TrustReadsOnly Trust = "reads_only"
)

// Registration is an operator's registration of a domain.
type Registration struct {
	Domain string `json:"domain"`
	// URL is absent for a pack.
	URL string `json:"url,omitempty"`
	// Pack is the manifest of a pack, which has no service and only workflows over the
	// capabilities of other domains.
	Pack json.RawMessage `json:"pack,omitempty"`
	Bridge
	// Authorization is "env:NAME": the header value is read from that environment variable and is
	// never stored in a file or a store.
	Authorization string `json:"authorization,omitempty"`
	Overlay
	// Roles are the roles, besides notifier, whose players in other domains the workflows of this
	// domain may call. A pack may call all.
	Roles []string `json:"roles,omitempty"`
	// PollS is the interval of manifest requests in seconds; 0 means the default.
	PollS int `json:"poll_s,omitempty"`
}

// Bridge is a service that was not written for Manifold, in place of a URL. The server itself
// is the bridge to it. At most one of the fields is set.
type Bridge struct {
	MCP     *MCPServer      `json:"mcp,omitempty"`
	OpenAPI *OpenAPIService `json:"openapi,omitempty"`
}

// Given reports whether a bridged service is set.
func (b Bridge) Given() bool { return b.MCP != nil || b.OpenAPI != nil }

// MCPServer is an MCP server: a URL, or a command that uses standard input and output.
type MCPServer struct {
	URL string `json:"url,omitempty"`
	// Authorization is "env:NAME", as in Registration.
	Authorization string `json:"authorization,omitempty"`
	// TokenFile is a file written by "manifold bridge mcp login" that replaces Authorization.
	// Only the bootstrap file may set it.
	TokenFile string `json:"token_file,omitempty"`
	// Logins makes each call with the account of the requester, who logs in through a link.
	// Authorization or TokenFile is then used only to list the tools.
	Logins *MCPLogins `json:"logins,omitempty"`
	// Command starts the server with the environment variables that Env names, PATH and HOME.
	// Only the bootstrap file may set it.
	Command []string `json:"command,omitempty"`
	Env     []string `json:"env,omitempty"`
	// Protocol is the protocol version to offer first; "" means the newest.
	Protocol string `json:"protocol,omitempty"`
	BridgeOverlay
}

// MCPLogins configures OAuth logins at an MCP server, one account per person.
type MCPLogins struct {
	// ClientID is a client registered at the authorisation server, ClientSecret its secret as
	// "env:NAME". Without an id, a client is registered dynamically.
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	// Scopes are the requested scopes. If empty, those that the server asks for are used.
	Scopes []string `json:"scopes,omitempty"`
}

// OpenAPIService is an API described by an OpenAPI document.
type OpenAPIService struct {
	// Document is a URL. In the bootstrap file it may be a file name.
	Document string `json:"document"`
	// Base is the base URL of the API; "" means the first server of the document.
	Base string `json:"base,omitempty"`
	// Scheme is a security scheme of the document. Secret is its credential as "env:NAME".
	Scheme string `json:"scheme,omitempty"`
	Secret string `json:"secret,omitempty"`
	BridgeOverlay
}

// BridgeOverlay declares the policies of a bridged service's operations, inline or in a file.
// Only the bootstrap file may name a file.
type BridgeOverlay struct {
	Overlay     json.RawMessage `json:"overlay,omitempty"`
	OverlayFile string          `json:"overlay_file,omitempty"`
}

// Overlay is what a registration adds to the policies of a domain. It can only make them
// stricter.
type Overlay struct {
	Trust Trust  `json:"trust,omitempty"`
	Floor *Floor `json:"floor,omitempty"`
}

// Floor is the minimum strictness of policies, for all capabilities and for single ones by name.
// A registration uses bare names, a site policy "domain.name".
type Floor struct {
	FloorRule
	Capabilities map[string]FloorRule `json:"capabilities,omitempty"`
}

// FloorRule raises the policy of one or all capabilities.
type FloorRule struct {
	RiskLevel RiskLevel `json:"risk_level,omitempty"`
	// ApprovalRequired requires an approval. For a whole domain or site it applies to writes
	// only; for a named capability it applies to reads as well.
	ApprovalRequired bool `json:"approval_required,omitempty"`
	// Approval says who must approve, if an approval is required.
	Approval *ApprovalRule `json:"approval,omitempty"`
	// AcceptRead and AcceptWrite are the minimum confidence for acting without a question, 0 to
	// 1.
	AcceptRead  float64 `json:"accept_read,omitempty"`
	AcceptWrite float64 `json:"accept_write,omitempty"`
}

// SitePolicy is what an operator requires of all domains.
type SitePolicy struct {
	Floor *Floor `json:"floor,omitempty"`
	// WaiveNotifier lifts the approval of notifier capabilities of low risk. It is the only
	// requirement that a site can lower.
	WaiveNotifier bool `json:"waive_notifier,omitempty"`
	// Roles maps a role to the capability ("domain.name") that plays it.
	Roles map[string]string `json:"roles,omitempty"`
	// Review says who counts as a second person, and who reviews which writes.
	Review *SiteReview `json:"review,omitempty"`
}

// SiteReview is a site's rules for approvals.
type SiteReview struct {
	// SinglePerson is for a site with one person: the requester may approve, and every approval
	// records this. It is never inferred.
	SinglePerson bool `json:"single_person,omitempty"`
	// PreventSelfReview requires a second person at every gate of a write.
	PreventSelfReview bool `json:"prevent_self_review,omitempty"`
	// OwnAuthority names capabilities ("domain.name") that the requester may approve alone. It
	// applies only to capabilities whose manifest declares own_login.
	OwnAuthority []string `json:"own_authority,omitempty"`
	// People maps a person's name to the other account names of the same person.
	People map[string][]string `json:"people,omitempty"`
	Rules  []ReviewRule        `json:"rules,omitempty"`
}

// ReviewRule is a site's requirement for the gates of some writes. All rules that match an action
// apply. Empty selectors match everything; empty requirements add nothing.
type ReviewRule struct {
	Domains []string          `json:"domains,omitempty"`
	Classes []SideEffectClass `json:"classes,omitempty"`
	// RiskLevel matches this level and higher ones.
	RiskLevel RiskLevel `json:"risk_level,omitempty"`

	Eyes Eyes `json:"eyes,omitempty"`
	ReviewTerms
}

func (r ReviewRule) fits(domain string, p Policy) bool {
	return (len(r.Domains) == 0 || slices.Contains(r.Domains, domain)) &&
		(len(r.Classes) == 0 || slices.Contains(r.Classes, p.SideEffectClass)) &&
		(r.RiskLevel == "" || p.RiskLevel.Rank() >= r.RiskLevel.Rank())
}

// OwnAuthorityOf returns the capabilities of a domain that the requester may approve alone.
func (s *SiteReview) OwnAuthorityOf(domain string) (names []string) {
	if s == nil {
		return nil
	}
	for _, ref := range s.OwnAuthority {
		if name, ok := strings.CutPrefix(ref, domain+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// apply returns the policy with the site's review rules applied. EyesTwoPersons can replace
// FourEyes. EyesOwn applies only if no rule of the site requires a second person.
func (s *SiteReview) apply(p Policy, domain string, c *Capability) Policy {
	if s == nil || !p.ApprovalRequired {
		return p
	}
	own := c.Metadata.OwnLogin && !s.PreventSelfReview && slices.Contains(s.OwnAuthorityOf(domain), c.Name)
	p.Approval.FourEyes = p.Approval.FourEyes || s.PreventSelfReview && p.SideEffectClass.Writes()
	for _, r := range s.Rules {
		if !r.fits(domain, p) {
			continue
		}
		own = own && r.Eyes == ""
		if r.Eyes == EyesFour {
			p.Approval.FourEyes = true
		} else if r.Eyes.Rank() > p.Approval.Eyes.Rank() {
			p.Approval.Eyes = r.Eyes
		}
		p.Approval.Roles, p.Approval.Quorum = stricterRoles(p.Approval.Roles, r.Roles), max(p.Approval.Quorum, r.Quorum)
		p.Approval.ReviewTimes = p.Approval.ReviewTimes.stricter(r.ReviewTimes)
	}
	if own {
		p.Approval.Eyes = EyesOwn
	}
	return p
}

// Bootstrap is the content of domains.bootstrap.json.
type Bootstrap struct {
	Domains    []Registration `json:"domains"`
	SitePolicy SitePolicy     `json:"site_policy,omitzero"`
}

// Admits reports whether the trust in the domain permits a capability with this policy.
func (o Overlay) Admits(p Policy) bool {
	return o.Trust != TrustReadsOnly || !p.SideEffectClass.Writes()
}

// EffectivePolicy returns the strictest combination of manifest, registration and site policy for
// one capability, with the site's waiver applied.
func EffectivePolicy(domain string, c *Capability, compensable bool, o Overlay, s SitePolicy) Policy {
	p := o.Floor.raise(c.Metadata.Policy(compensable), c.Name, "the registration of the domain asks for approval")
	p = s.Floor.raise(p, domain+"."+c.Name, "the site policy asks for approval")
	if s.WaiveNotifier {
		p = waiveNotifier(p, c, asked(c, domain, o, s))
	}
	return s.Review.apply(p, domain, c)
}

// waiveNotifier lifts an approval that only the defaults require.
func waiveNotifier(p Policy, c *Capability, asked bool) Policy {
	notifies := slices.ContainsFunc(c.Metadata.Plays, func(r RolePlay) bool { return r.Role == RoleNotifier })
	if !p.ApprovalRequired || !notifies || asked || p.RiskLevel.Rank() > RiskLow.Rank() {
		return p
	}
	p.ApprovalRequired, p.Reason, p.Waiver = false, "", "site policy: waive_notifier"
	return p
}

// asked reports whether the manifest, the registration or the site explicitly requires the
// approval. A waiver does not override that.
func asked(c *Capability, domain string, o Overlay, s SitePolicy) bool {
	return c.Metadata.ApprovalRequired != nil && *c.Metadata.ApprovalRequired || o.Floor.asks(c.Name) || s.Floor.asks(domain+"."+c.Name)
}

func (f *Floor) asks(name string) bool {
	return f != nil && (f.ApprovalRequired || f.Capabilities[name].ApprovalRequired)
}

func (f *Floor) raise(p Policy, name, reason string) Policy {
	if f == nil {
		return p
	}
	general := f.FloorRule
	general.ApprovalRequired = general.ApprovalRequired && p.SideEffectClass.Writes()
	return f.Capabilities[name].raise(general.raise(p, reason), reason)
}

func (r FloorRule) raise(p Policy, reason string) Policy {
	q := p
	q.Approval = r.Approval.raise(p.Approval)
	if r.RiskLevel != "" {
		q.RiskLevel = r.RiskLevel
	}
	if r.ApprovalRequired {
		q.ApprovalRequired, q.Reason = true, reason
	}
	return p.Stricter(q)
}

// raise returns the approval that the rule requires. Fields that the rule does not set keep the
// values of p.
func (r *ApprovalRule) raise(p ApprovalPolicy) ApprovalPolicy {
	if r == nil {
		return p
	}
	q := ApprovalPolicy{FourEyes: p.FourEyes, Roles: p.Roles, Quorum: r.Quorum, ExpiresS: r.ExpiresS, ReviewTimes: p.ReviewTimes}
	if r.FourEyes != nil {
		q.FourEyes = *r.FourEyes
	}
	if len(r.Roles) > 0 {
		q.Roles = slices.Clone(r.Roles)
	}
	return q
}
