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

// Link lets one person decide one gate on a page, once, and only as long as its
// action is the one that the person was shown.
type Link struct {
	GateID       string `json:"g"`
	ActionSHA256 string `json:"h"`
	// KeyID is the key that the person came with, Person who they are, Roles what
	// they had then: a link never allows more than that, and less if the key is
	// worth less by now.
	KeyID   string   `json:"k"`
	Person  string   `json:"p"`
	Roles   []string `json:"r"`
	Vouched bool     `json:"v,omitempty"` // the person was signed by the frontend
	Expires int64    `json:"e"`           // seconds since 1970
}

// LinkFor is the link of somebody to a gate as it is, until a time and never longer
// than the gate.
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

// Narrow returns the holder of a link with no more roles than it was made with.
func (l Link) Narrow(who access.Principal) access.Principal {
	who.Roles = slices.DeleteFunc(slices.Clone(who.Roles), func(r access.Role) bool { return !slices.Contains(l.Roles, string(r)) })
	return who
}

// Expired reports whether the link is too old.
func (l Link) Expired(now time.Time) bool { return now.Unix() >= l.Expires }

// LinkToken writes a link so that nobody else can.
func (s Signer) LinkToken(l Link) string {
	body, err := json.Marshal(l)
	if err != nil {
		return "" // texts and numbers always encode
	}
	text := base64.RawURLEncoding.EncodeToString(body)
	return text + "." + s.sign("link", text)
}

// ReadLink reads a link that was written with the same key.
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
