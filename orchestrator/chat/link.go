package chat

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Link lets one person decide one gate on a page, once, and only while its action is the one that
// the person was shown.
type Link struct {
	GateID       string `json:"g"`
	ActionSHA256 string `json:"h"`
	// KeyID is the key that the person used, Person their name, Roles their roles at that time. The
	// link never allows more than these, and less if the key has fewer rights by now.
	KeyID   string   `json:"k"`
	Person  string   `json:"p"`
	Roles   []string `json:"r"`
	Vouched bool     `json:"v,omitempty"` // the frontend's statement about the person was signed
	Expires int64    `json:"e"`           // seconds since 1970
}

// LinkFor returns a person's link to the current action of a gate. It expires at a time, but not
// after the gate.
func LinkFor(who access.Principal, i contracts.Interrupt, until time.Time) Link {
	if i.ExpiresAt != nil && i.ExpiresAt.Before(until) {
		until = *i.ExpiresAt
	}
	l := Link{GateID: i.InterruptID, ActionSHA256: i.ActionSHA256, KeyID: who.KeyID, Person: who.Person(), Vouched: who.Vouched, Expires: until.Unix()}
	for _, r := range who.Roles {
		l.Roles = append(l.Roles, string(r))
	}
	return l
}

// Narrow returns the principal with no more roles than the link has.
func (l Link) Narrow(who access.Principal) access.Principal {
	who.Roles = slices.DeleteFunc(slices.Clone(who.Roles), func(r access.Role) bool { return !slices.Contains(l.Roles, string(r)) })
	return who
}

// Expired reports whether the link has expired.
func (l Link) Expired(now time.Time) bool { return now.Unix() >= l.Expires }

// LinkToken returns a signed token of a link.
func (s Signer) LinkToken(l Link) string {
	body, err := json.Marshal(l)
	if err != nil {
		return "" // strings and numbers always encode
	}
	text := base64.RawURLEncoding.EncodeToString(body)
	return text + "." + s.sign("link", text)
}

// ReadLink returns the link of a token that was signed with the same key. It does not check expiry.
func (s Signer) ReadLink(token string) (Link, bool) {
	text, sig, _ := strings.Cut(token, ".")
	if !hmac.Equal([]byte(sig), []byte(s.sign("link", text))) {
		return Link{}, false
	}
	var l Link
	body, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(body, &l) != nil || l.GateID == "" || l.Person == "" {
		return Link{}, false
	}
	return l, true
}
