package chat

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// Marker ties the history that a frontend sends back to its session, and to the gates that were
// displayed in it.
type Marker struct {
	SessionID string
	Codes     []string
}

// markerLine is a link-reference definition, which Markdown does not display.
var markerLine = regexp.MustCompile(`(?m)^\[//\]: # \(manifold ([^()\s]+) ([^()\s]*) ([^()\s]+)\)[ \t\r]*$`)

// noSession replaces the session id in the marker of a chat without a session, in which gates of
// other sessions were displayed.
const noSession = "-"

// Signer creates and verifies markers, cards and links. The signature includes the person, so that
// a marker from another person's history is invalid.
type Signer struct{ key []byte }

// NewSigner returns a signer with a secret key of at least 32 bytes.
func NewSigner(key []byte) Signer { return Signer{key: key} }

// Line renders a marker. It must follow an empty line.
func (s Signer) Line(m Marker, subject string) string {
	codes := strings.Join(m.Codes, ",")
	m.SessionID = cmp.Or(m.SessionID, noSession)
	return "[//]: # (manifold " + m.SessionID + " " + codes + " " + s.sign("marker", m.SessionID, codes, subject) + ")"
}

// Read returns the last marker in a text that was signed for this person.
func (s Signer) Read(text, subject string) (Marker, bool) {
	found := markerLine.FindAllStringSubmatch(text, -1)
	for _, m := range slices.Backward(found) {
		sessionID, codes, sig := m[1], m[2], m[3]
		if !hmac.Equal([]byte(sig), []byte(s.sign("marker", sessionID, codes, subject))) {
			continue
		}
		out := Marker{SessionID: strings.TrimPrefix(sessionID, noSession)}
		if codes != "" {
			out.Codes = strings.Split(codes, ",")
		}
		return out, true
	}
	return Marker{}, false
}

// cardPrefix is the prefix of the tool call id of an approval card.
const cardPrefix = "mfc."

// Card returns the signed tool call id of an approval card, which comes back with its answer.
func (s Signer) Card(m Marker, subject string) string {
	codes := strings.Join(m.Codes, "-")
	return cardPrefix + m.SessionID + "." + codes + "." + s.sign("card", m.SessionID, codes, subject)
}

// ReadCard returns the marker in the id of a card that was signed for this person.
func (s Signer) ReadCard(id, subject string) (Marker, bool) {
	parts := strings.Split(strings.TrimPrefix(id, cardPrefix), ".")
	if !strings.HasPrefix(id, cardPrefix) || len(parts) != 3 || parts[1] == "" {
		return Marker{}, false
	}
	if !hmac.Equal([]byte(parts[2]), []byte(s.sign("card", parts[0], parts[1], subject))) {
		return Marker{}, false
	}
	return Marker{SessionID: parts[0], Codes: strings.Split(parts[1], "-")}, true
}

func (s Signer) sign(parts ...string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}
