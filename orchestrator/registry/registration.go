package registry

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

var (
	domainForm        = regexp.MustCompile(`^[a-z][a-z0-9_-]{1,31}$`)
	authorizationForm = regexp.MustCompile(`^env:[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

const (
	minPollS = 5
	maxPollS = 86400
)

// ParseBootstrap parses domains.bootstrap.json. Decoding is strict, and all faults are returned
// with their JSON pointers.
func ParseBootstrap(data []byte) (contracts.Bootstrap, error) {
	var b contracts.Bootstrap
	if err := contracts.DecodeStrict(data, &b); err != nil {
		return contracts.Bootstrap{}, fmt.Errorf("bootstrap file: %w", err)
	}
	var faults []contracts.Fault
	seen := map[string]bool{}
	for i, reg := range b.Domains {
		at := fmt.Sprintf("/domains/%d", i)
		faults = append(faults, registrationFaults(at, reg)...)
		if reg.Domain == "" {
			faults = append(faults, contracts.Fault{Pointer: at + "/domain", Message: "is required"})
		}
		if seen[reg.Domain] {
			faults = append(faults, contracts.Fault{Pointer: at + "/domain", Message: fmt.Sprintf("%q is registered twice", reg.Domain)})
		}
		seen[reg.Domain] = true
	}
	faults = append(faults, siteFaults("/site_policy", b.SitePolicy)...)
	if len(faults) > 0 {
		return contracts.Bootstrap{}, contracts.Invalid("the bootstrap file is refused", faults...)
	}
	return b, nil
}

// registrationFaults validates a registration on its own. The domain may be empty: an admin may
// leave the name to the manifest.
func registrationFaults(at string, reg contracts.Registration) []contracts.Fault {
	var faults faultList
	if reg.Domain != "" && !domainForm.MatchString(reg.Domain) {
		faults.add(at+"/domain", "must match "+domainForm.String())
	}
	if why := urlFault(reg.URL); why != "" && reg.Pack == nil && !reg.Given() {
		faults.add(at+"/url", why)
	}
	faults = append(faults, bridgeFaults(at, reg)...)
	if reg.Pack != nil && (reg.URL != "" || reg.Authorization != "") {
		faults.add(at+"/pack", "stands in the place of a service: it has neither url nor authorization")
	}
	if reg.Authorization != "" && !authorizationForm.MatchString(reg.Authorization) {
		faults.add(at+"/authorization", `must be "env:NAME"; the secret itself stays in the environment`)
	}
	switch reg.Trust {
	case "", contracts.TrustFull, contracts.TrustReadsOnly:
	default:
		faults.add(at+"/trust", "must be full or reads_only")
	}
	for i, role := range reg.Roles {
		if role == contracts.RoleNotifier {
			faults.add(fmt.Sprintf("%s/roles/%d", at, i), "every domain may call who plays notifier; leave it out")
		}
	}
	if reg.PollS != 0 && (reg.PollS < minPollS || reg.PollS > maxPollS) {
		faults.add(at+"/poll_s", fmt.Sprintf("must be 0 or between %d and %d", minPollS, maxPollS))
	}
	return append(faults, floorFaults(at+"/floor", reg.Floor)...)
}

func urlFault(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return "is required"
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return "must be an http or https URL with a host"
	case u.User != nil:
		return "must not hold a user or a password; use authorization"
	case u.RawQuery != "" || u.Fragment != "":
		return "must not hold a query or a fragment"
	}
	return ""
}

func siteFaults(at string, site contracts.SitePolicy) []contracts.Fault {
	faults := faultList(floorFaults(at+"/floor", site.Floor))
	if site.Floor != nil {
		for name := range site.Floor.Capabilities {
			if !strings.Contains(name, ".") {
				faults.add(pointer(at+"/floor/capabilities", name), `must be "domain.name"`)
			}
		}
	}
	for role, ref := range site.Roles {
		if !strings.Contains(ref, ".") {
			faults.add(pointer(at+"/roles", role), `must be "domain.name"`)
		}
	}
	if site.Review != nil {
		for n, rule := range site.Review.Rules {
			if rule.Eyes == contracts.EyesOwn {
				faults.add(fmt.Sprintf("%s/review/rules/%d/eyes", at, n), "must be given by capability, in own_authority")
			}
			faults = append(faults, termFaults(fmt.Sprintf("%s/review/rules/%d", at, n), rule.ReviewTerms)...)
		}
	}
	faults.sort()
	return faults
}

// maxReviewS is the maximum of waits, minRemindS the minimum interval between reminders.
const maxReviewS, minRemindS = 30 * 24 * 3600, 60

// termFaults validates the terms of a review. An escalation may only notify people in the pool.
func termFaults(at string, r contracts.ReviewTerms) []contracts.Fault {
	var faults faultList
	if r.Quorum < 0 {
		faults.add(at+"/quorum", "must not be negative")
	}
	if r.WaitS < 0 || r.WaitS > maxReviewS {
		faults.add(at+"/wait_s", fmt.Sprintf("must be between 0 and %d", maxReviewS))
	}
	for name, value := range map[string]int{"remind_s": r.RemindS, "escalate_s": r.EscalateS} {
		if value != 0 && (value < minRemindS || value > maxReviewS) {
			faults.add(at+"/"+name, fmt.Sprintf("must be 0 or between %d and %d", minRemindS, maxReviewS))
		}
	}
	if (r.EscalateS > 0) != (len(r.EscalateTo) > 0) {
		faults.add(at+"/escalate_to", "escalate_s and escalate_to belong together")
	}
	for _, who := range r.EscalateTo {
		if len(r.People) > 0 && !slices.Contains(r.People, who) {
			faults.add(at+"/escalate_to", who+" is none of people: an escalation never makes the pool wider")
		}
	}
	return faults
}

func floorFaults(at string, floor *contracts.Floor) []contracts.Fault {
	if floor == nil {
		return nil
	}
	faults := faultList(ruleFaults(at, floor.FloorRule))
	for name, rule := range floor.Capabilities {
		faults = append(faults, ruleFaults(pointer(at+"/capabilities", name), rule)...)
	}
	faults.sort()
	return faults
}

func ruleFaults(at string, rule contracts.FloorRule) []contracts.Fault {
	var faults faultList
	switch rule.RiskLevel {
	case "", contracts.RiskRead, contracts.RiskLow, contracts.RiskMedium, contracts.RiskHigh, contracts.RiskCritical:
	default:
		faults.add(at+"/risk_level", "must be read, low, medium, high or critical")
	}
	if rule.Approval != nil && (rule.Approval.Quorum < 0 || rule.Approval.ExpiresS < 0) {
		faults.add(at+"/approval", "quorum and expires_s must not be negative")
	}
	for name, least := range map[string]float64{"accept_read": rule.AcceptRead, "accept_write": rule.AcceptWrite} {
		if least < 0 || least > 1 {
			faults.add(at+"/"+name, "must be between 0 and 1")
		}
	}
	return faults
}

// faultList collects faults.
type faultList []contracts.Fault

func (l *faultList) add(pointer, message string) {
	*l = append(*l, contracts.Fault{Pointer: pointer, Message: message})
}

func (l *faultList) sort() {
	slices.SortFunc(*l, func(a, b contracts.Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
}

// pointer appends one token to a JSON pointer.
func pointer(parent, token string) string {
	return parent + "/" + contracts.EscapeToken(token)
}
