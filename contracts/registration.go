package contracts

import (
	"encoding/json"
	"slices"
	"strings"
)

// Trust specifies which capabilities of a domain may be used at all.
type Trust string

// The trust levels; an absent one is full.
const (
	TrustFull      Trust = "full"
	TrustReadsOnly Trust = "reads_only"
)

// Registration is how an operator makes a domain known.
type Registration struct {
	Domain string `json:"domain"`
	// URL is absent for a pack.
	URL string `json:"url,omitempty"`
	// Pack is the manifest of a pack, which has no service: workflows over the
	// capabilities of other domains.
	Pack json.RawMessage `json:"pack,omitempty"`
	Bridge
	// Authorization is "env:NAME": the header's value stands in that variable
	// of the environment, never in a file or a store.
	Authorization string `json:"authorization,omitempty"`
	Overlay
	// Roles are those whose players in other domains the workflows of this one may
	// call, besides notifier. A pack may call all.
	Roles []string `json:"roles,omitempty"`
	// PollS is how often the manifest is asked for; 0 means the default.
	PollS int `json:"poll_s,omitempty"`
}

// Bridge is a service that was not written for Manifold and stands in the place of
// the URL: the server itself has the bridge to it. At most one of the two is there.
type Bridge struct {
	MCP     *MCPServer      `json:"mcp,omitempty"`
	OpenAPI *OpenAPIService `json:"openapi,omitempty"`
}

// Given reports whether there is a service behind a bridge.
func (b Bridge) Given() bool { return b.MCP != nil || b.OpenAPI != nil }

// MCPServer is an MCP server: a URL, or a command that speaks on standard input and
// output.
type MCPServer struct {
	URL string `json:"url,omitempty"`
	// Authorization is "env:NAME", as that of a domain.
	Authorization string `json:"authorization,omitempty"`
	// TokenFile is what "manifold bridge mcp login" has written, in the place of
	// Authorization. Only the bootstrap file may name one.
	TokenFile string `json:"token_file,omitempty"`
	// Logins has each call made with the account of the requester, who logs in by a link.
	// Authorization, or TokenFile, then only lists the tools.
	Logins *MCPLogins `json:"logins,omitempty"`
	// Command starts the server, with the variables that Env names besides PATH and
	// HOME. Only the bootstrap file may name one.
	Command []string `json:"command,omitempty"`
	Env     []string `json:"env,omitempty"`
	// Protocol is the version to begin with; "" means the newest.
	Protocol string `json:"protocol,omitempty"`
	BridgeOverlay
}

// MCPLogins is how people log in at an MCP server by OAuth, each with an account of their
// own.
type MCPLogins struct {
	// ClientID is a client that the authorisation server knows, ClientSecret its secret as
	// "env:NAME"; without, one is registered.
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	// Scopes are what to ask for; without, what the server asks for.
	Scopes []string `json:"scopes,omitempty"`
}

// OpenAPIService is an API that an OpenAPI document describes.
type OpenAPIService struct {
	// Document is a URL; in the bootstrap file, a file as well.
	Document string `json:"document"`
	// Base is the address of the API; "" means the first server of the document.
	Base string `json:"base,omitempty"`
	// Scheme is a security scheme of the document, Secret its credential as "env:NAME".
	Scheme string `json:"scheme,omitempty"`
	Secret string `json:"secret,omitempty"`
	BridgeOverlay
}

// BridgeOverlay describes what the operations of a service are: here, or in a file that
// only the bootstrap file may name.
type BridgeOverlay struct {
	Overlay     json.RawMessage `json:"overlay,omitempty"`
	OverlayFile string          `json:"overlay_file,omitempty"`
}

// Overlay is what a registration adds to a domain's own policies. It can only
// raise them.
type Overlay struct {
	Trust Trust  `json:"trust,omitempty"`
	Floor *Floor `json:"floor,omitempty"`
}

// Floor is the least strict that policies may be: for all capabilities, and
// for single ones by name. A registration names them bare, a site policy as
// "domain.name".
type Floor struct {
	FloorRule
	Capabilities map[string]FloorRule `json:"capabilities,omitempty"`
}

// FloorRule raises one policy.
type FloorRule struct {
	RiskLevel RiskLevel `json:"risk_level,omitempty"`
	// ApprovalRequired asks for an approval. For a whole domain or site it
	// speaks of writes; for a named capability, of reads as well.
	ApprovalRequired bool `json:"approval_required,omitempty"`
	// Approval says who must approve where an approval is required.
	Approval *ApprovalRule `json:"approval,omitempty"`
	// AcceptRead and AcceptWrite are how sure a reading must be to be done unasked, 0 to 1.
	AcceptRead  float64 `json:"accept_read,omitempty"`
	AcceptWrite float64 `json:"accept_write,omitempty"`
}

// SitePolicy is what an operator demands of all domains.
type SitePolicy struct {
	Floor *Floor `json:"floor,omitempty"`
	// WaiveNotifier lifts the approval of capabilities that play the notifier
	// at risk low; the only thing that a site can lower.
	WaiveNotifier bool `json:"waive_notifier,omitempty"`
	// Roles is the capability ("domain.name") that plays a role.
	Roles map[string]string `json:"roles,omitempty"`
	// Review says who counts as a second person, and who reviews what.
	Review *SiteReview `json:"review,omitempty"`
}

// SiteReview is a site's rules for approvals.
type SiteReview struct {
	// SinglePerson is for a site of one person: the requester may approve, and every
	// approval says so. It is never inferred.
	SinglePerson bool `json:"single_person,omitempty"`
	// PreventSelfReview asks for a second person at every gate of a write.
	PreventSelfReview bool `json:"prevent_self_review,omitempty"`
	// OwnAuthority names capabilities ("domain.name") that the requester may approve alone.
	// Those count that are done with the asker's own login in another system, as their
	// manifest says (own_login).
	OwnAuthority []string `json:"own_authority,omitempty"`
	// People ties the accounts of one person together: other names by the name.
	People map[string][]string `json:"people,omitempty"`
	Rules  []ReviewRule        `json:"rules,omitempty"`
}

// ReviewRule is what a site asks for at the gates of some writes; all rules that
// fit an action hold. Empty fields fit all, or ask for nothing.
type ReviewRule struct {
	Domains []string          `json:"domains,omitempty"`
	Classes []SideEffectClass `json:"classes,omitempty"`
	// RiskLevel fits from this level on.
	RiskLevel RiskLevel `json:"risk_level,omitempty"`

	Eyes Eyes `json:"eyes,omitempty"`
	ReviewTerms
}

func (r ReviewRule) fits(domain string, p Policy) bool {
	return (len(r.Domains) == 0 || slices.Contains(r.Domains, domain)) &&
		(len(r.Classes) == 0 || slices.Contains(r.Classes, p.SideEffectClass)) &&
		(r.RiskLevel == "" || p.RiskLevel.Rank() >= r.RiskLevel.Rank())
}

// OwnAuthorityOf are the capabilities of a domain that the requester may approve alone.
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

// apply gives the policy that a site's review asks for. The rule of two persons is
// the one that takes the place of a weaker one by the site's word; so does the asker's own
// authority, where no other rule of the site asks for a second person.
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

// Bootstrap is the file domains.bootstrap.json.
type Bootstrap struct {
	Domains    []Registration `json:"domains"`
	SitePolicy SitePolicy     `json:"site_policy,omitzero"`
}

// Admits reports whether the trust in the domain covers a capability with this
// policy.
func (o Overlay) Admits(p Policy) bool {
	return o.Trust != TrustReadsOnly || !p.SideEffectClass.Writes()
}

// EffectivePolicy gives the strictest of what the manifest, the registration
// and the site say of one capability, with the site's waiver applied.
func EffectivePolicy(domain string, c *Capability, compensable bool, o Overlay, s SitePolicy) Policy {
	p := o.Floor.raise(c.Metadata.Policy(compensable), c.Name, "the registration of the domain asks for approval")
	p = s.Floor.raise(p, domain+"."+c.Name, "the site policy asks for approval")
	if s.WaiveNotifier {
		p = waiveNotifier(p, c, asked(c, domain, o, s))
	}
	return s.Review.apply(p, domain, c)
}

// waiveNotifier lifts an approval that only the defaults demand.
func waiveNotifier(p Policy, c *Capability, asked bool) Policy {
	notifies := slices.ContainsFunc(c.Metadata.Plays, func(r RolePlay) bool { return r.Role == RoleNotifier })
	if !p.ApprovalRequired || !notifies || asked || p.RiskLevel.Rank() > RiskLow.Rank() {
		return p
	}
	p.ApprovalRequired, p.Reason, p.Waiver = false, "", "site policy: waive_notifier"
	return p
}

// asked reports whether anyone asks for the approval by name; a waiver does not
// go against that.
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

// raise returns the approval that the rule asks for, where it says nothing the
// one that stands.
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
