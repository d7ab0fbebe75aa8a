package access

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// Reviewers decides who counts as a second person, by the site's rules and by who granted which
// key. It has no state between calls.
type Reviewers struct {
	keys   *Keys
	single bool
	// names maps the accounts of a person to one name, for comparison.
	names map[string]string
	// others are people without a key here, such as those of a bot.
	others []Principal
	// vouches means that frontends sign the person of a request.
	vouches bool
}

// ReviewConfig configures the reviewers of a site.
type ReviewConfig struct {
	// Site may be nil.
	Site *contracts.SiteReview
	// Others are people without a key whom the server knows by its configuration.
	Others []Principal
	// Vouches means that frontends sign the person of a request, so that unknown people may use
	// their keys.
	Vouches bool
}

// NewReviewers returns the reviewers of a site.
func NewReviewers(keys *Keys, cfg ReviewConfig) *Reviewers {
	r := &Reviewers{keys: keys, names: map[string]string{}, others: cfg.Others, vouches: cfg.Vouches}
	if cfg.Site == nil {
		return r
	}
	r.single = cfg.Site.SinglePerson
	for name, others := range cfg.Site.People {
		for _, other := range append(slices.Clone(others), name) {
			r.names[strings.ToLower(other)] = strings.ToLower(name)
		}
	}
	return r
}

// ReviewPanel decides who may review what, by a snapshot of the keys.
type ReviewPanel struct {
	of   *Reviewers
	now  time.Time
	keys map[string]Key
}

// Panel reads the keys.
func (r *Reviewers) Panel(ctx context.Context) (ReviewPanel, error) {
	all, err := r.keys.store.Keys(ctx, contracts.Page{})
	if err != nil {
		return ReviewPanel{}, err
	}
	p := ReviewPanel{of: r, now: r.keys.now(), keys: make(map[string]Key, len(all.Items))}
	for _, k := range all.Items {
		p.keys[k.ID] = k
	}
	return p, nil
}

// personKey normalizes a subject for comparison: the case of an e-mail address may vary, and one
// person may have several accounts.
func (r *Reviewers) personKey(subject string) string {
	subject = strings.ToLower(subject)
	if name, ok := r.names[subject]; ok {
		return name
	}
	return subject
}

func (r *Reviewers) among(people []string, who string) bool {
	return slices.ContainsFunc(people, func(p string) bool { return r.personKey(p) == r.personKey(who) })
}

// Relation returns the relation of a caller to an action, "" if they took no part in it.
func (p ReviewPanel) Relation(who Principal, i contracts.Interrupt) contracts.DeciderRelation {
	switch subject := who.Subject(); {
	case i.Initiator != "" && p.of.personKey(i.Initiator) == p.of.personKey(subject):
		return contracts.RelationInitiator
	case p.of.among(i.Requesters, subject):
		return contracts.RelationContributor
	default:
		return ""
	}
}

// MayDecide returns nil if the caller may approve, reject or edit a gate. It does not check the
// gate's status. Every reviewer may reject and edit; an approval also needs a person who counts.
func (p ReviewPanel) MayDecide(who Principal, i contracts.Interrupt, d contracts.Decision) error {
	if key, ok := p.keys[who.KeyID]; ok && key.usable(p.now) != nil {
		return key.usable(p.now)
	}
	if d != contracts.DecisionApprove {
		return who.MayReview(i)
	}
	affirms := p.affirms(who, i)
	if err := who.MayReview(i); err != nil && !affirms { // the initiator needs no role to confirm
		return err
	}
	if len(i.Reviewers) > 0 && !affirms && !p.of.among(i.Reviewers, who.Subject()) {
		return contracts.Errorf(contracts.CodeForbidden, "this is reviewed by %s", strings.Join(i.Reviewers, ", "))
	}
	if who.Shared() {
		return contracts.Errorf(contracts.CodeForbidden, "a front end approves nothing by itself: it must say who is asking")
	}
	if i.Eyes() != "" || i.Quorum > 1 {
		if err := p.secondPerson(who, i); err != nil {
			return err
		}
	}
	for _, decided := range i.Decisions {
		again := decided.Decision == contracts.DecisionApprove && decided.ActionSHA256 == i.ActionSHA256 && !p.IsRevoked(decided)
		if again && p.of.personKey(decided.DecidedBy) == p.of.personKey(who.Subject()) {
			return contracts.Errorf(contracts.CodeConflict, "%s has approved this already; it needs %d people", who.Subject(), gateview.People(i))
		}
	}
	return nil
}

// affirms reports whether the caller initiated the action and the gate asks the initiator to
// approve.
func (p ReviewPanel) affirms(who Principal, i contracts.Interrupt) bool {
	asksInitiator := i.Eyes() == contracts.EyesTwoPersons || i.Eyes() == contracts.EyesOwn
	return asksInitiator && p.Relation(who, i) == contracts.RelationInitiator
}

// IsRevoked reports whether an approval no longer counts: its key was revoked or has expired while
// the gate is still undecided.
func (p ReviewPanel) IsRevoked(d contracts.InterruptDecided) bool {
	key, ok := p.keys[d.KeyID]
	return ok && key.usable(p.now) != nil
}

// secondPerson returns the reason why a caller is no second person for a gate, or nil.
func (p ReviewPanel) secondPerson(who Principal, i contracts.Interrupt) error {
	person := who.Person()
	switch {
	case person == "" && i.Eyes() != "":
		return noSecond("a person's key, not that of a %s", who.Kind)
	case who.Kind == KindFrontend && !who.Vouched:
		return noSecond("the front end says that %s is asking, and nobody vouches for that: let it sign its users (--frontend-jwt), or use a key of your own", person)
	case who.Kind == KindFrontend && i.Initiator == who.program():
		return noSecond("%s asked for it, and did not say for whom", i.Initiator)
	case p.of.single, i.Eyes() == "":
		return nil
	}
	stands := p.Relation(who, i)
	switch {
	case p.affirms(who, i):
		return nil
	case i.Eyes() != contracts.EyesTwoPersons && stands != "":
		return noSecond("%s asked for it, or has a part in it", person)
	}
	return p.refuseGranted(who, i)
}

func noSecond(format string, args ...any) error {
	return contracts.Errorf(contracts.CodeForbidden, "this needs a second pair of eyes: "+format, args...)
}

// refuseGranted returns an error if the caller's key was granted by a requester, directly or not,
// or by anybody after the request: such a key makes no second person. A later key of a person who
// could already review at the time of the request is accepted.
func (p ReviewPanel) refuseGranted(who Principal, i contracts.Interrupt) error {
	if who.KeyID == "" {
		return nil // known by the server's configuration
	}
	key, ok := p.keys[who.KeyID]
	if !ok {
		return noSecond("the key of %s is not known", who.Person())
	}
	if maker, ok := p.grantedBy(key, i); ok {
		return noSecond("the key of %s goes back to %s, who asked for it or has a part in it", who.Person(), maker)
	}
	asked := i.CreatedAt
	if i.RequestedAt != nil {
		asked = *i.RequestedAt
	}
	if !key.CreatedAt.After(asked) {
		return nil
	}
	for _, k := range p.keys {
		if k.Kind != key.Kind || p.of.personKey(k.Principal) != p.of.personKey(key.Principal) || k.CreatedAt.After(asked) || k.endedBefore(asked) {
			continue
		}
		if _, ghost := p.grantedBy(k, i); !ghost && k.holder().MayReview(i) == nil {
			return nil
		}
	}
	return noSecond("the key of %s was made after the request; ask again, or let somebody approve who could at that time", who.Person())
}

// grantedBy returns the requester who granted a key, directly or through other keys.
func (p ReviewPanel) grantedBy(key Key, i contracts.Interrupt) (maker string, ok bool) {
	for range len(p.keys) + 1 {
		if p.of.among(i.Requesters, key.CreatedBy) {
			return key.CreatedBy, true
		}
		if key, ok = p.keys[key.CreatedWith]; !ok {
			return "", false
		}
	}
	return "", false
}

func (k Key) endedBefore(at time.Time) bool {
	return k.RevokedAt != nil && !k.RevokedAt.After(at) || k.ExpiresAt != nil && !k.ExpiresAt.After(at)
}

// holder returns the principal of a key.
func (k Key) holder() Principal {
	return Principal{
		KeyID: k.ID, Kind: k.Kind, ID: k.Principal, Roles: k.Roles, RolesBefore: k.RolesVersion < rolesVersion, Scopes: k.Scopes,
	}
}

// WhyNoReviewer returns why nobody can approve a gate that is about to be opened, "" if somebody
// can. Users behind a frontend that signs them are unknown and count as able to.
func (r *Reviewers) WhyNoReviewer(ctx context.Context, i contracts.Interrupt) (string, error) {
	panel, err := r.Panel(ctx)
	if err != nil {
		return "", err
	}
	pool, holders, initiator := map[string]bool{}, map[string]bool{}, false
	for _, who := range panel.people() {
		if who.Shared() { // the people behind it are unknown
			if r.vouches && who.MayReview(i) == nil && panel.refuseGranted(who, i) == nil {
				return "", nil
			}
			continue
		}
		if who.MayReview(i) == nil {
			holders[r.personKey(who.Subject())] = true
		}
		if panel.MayDecide(who, i, contracts.DecisionApprove) == nil {
			pool[r.personKey(who.Subject())] = true
			initiator = initiator || panel.Relation(who, i) == contracts.RelationInitiator
		}
	}
	if len(pool) >= gateview.People(i) && (initiator || i.Eyes() != contracts.EyesTwoPersons) {
		return "", nil
	}
	text := "As things stand nobody can approve this. It takes "
	if i.Eyes() == contracts.EyesTwoPersons {
		text += "who asked and "
	}
	text += strconv.Itoa(max(gateview.People(i), 1)) + " of those with the role " + strings.Join(GateRoles(i), " or ")
	if len(i.Reviewers) > 0 {
		text += ", named: " + strings.Join(i.Reviewers, ", ")
	}
	text += ", and of the " + strconv.Itoa(len(holders)) + " that there are, " + strconv.Itoa(len(pool)) + " had no part in it and got no key from who had. "
	return text + "Let an admin who did not ask make a key for a second person, and ask again.", nil
}

// Revoked reports which key was revoked that an approved action depends on: that of an approver, or
// all keys of the requester unless somebody has approved since. A person who never had a key, such
// as a user of a frontend, has none to revoke.
func (r *Reviewers) Revoked(ctx context.Context, owner contracts.Principal, gate *contracts.Interrupt) (string, error) {
	panel, err := r.Panel(ctx)
	if err != nil {
		return "", err
	}
	var approved time.Time
	if gate != nil && len(gate.Decisions) > 0 {
		approved = gate.Decisions[len(gate.Decisions)-1].DecidedAt
		for _, d := range gate.Decisions { // keys revoked before the last decision did not count for it
			if k, ok := panel.keys[d.KeyID]; d.Decision == contracts.DecisionApprove && ok && k.RevokedAt != nil && k.RevokedAt.After(approved) {
				return "the key of " + d.DecidedBy + ", who had approved it, was revoked since", nil
			}
		}
	}
	if at := panel.leftAt(SubjectOf(owner)); !at.IsZero() && at.After(approved) {
		return "every key of " + SubjectOf(owner) + ", who asked for it, was revoked since", nil
	}
	return "", nil
}

// leftAt returns when the last key of a subject was revoked, zero if they have a usable one or
// never had any.
func (p ReviewPanel) leftAt(subject string) (last time.Time) {
	for _, k := range p.keys {
		switch who := k.holder(); {
		case p.of.personKey(who.Subject()) != p.of.personKey(subject):
		case k.usable(p.now) == nil:
			return time.Time{}
		case k.RevokedAt != nil && k.RevokedAt.After(last):
			last = *k.RevokedAt
		}
	}
	return last
}

// people returns the principals of all usable keys, and the people without a key.
func (p ReviewPanel) people() []Principal {
	out := slices.Clone(p.of.others)
	for _, k := range p.keys {
		if k.usable(p.now) == nil {
			out = append(out, k.holder())
		}
	}
	return out
}
