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

// Marker ties the history that a frontend sends back to its session, and to
// the gates that were shown in it.
type Marker struct {
	SessionID string
	Codes     []string
}

// markerLine is a link-reference definition, which Markdown does not show.
var markerLine = regexp.MustCompile(`(?m)^\[//\]: # \(manifold ([^()\s]+) ([^()\s]*) ([^()\s]+)\)[ \t\r]*$`)

// noSession stands in a marker for the session of a chat in which nothing was asked
// yet, where gates of others were shown.
const noSession = "-"

// Signer makes and checks markers. The signature covers the person, so that a
// marker from somebody else's history is worth nothing.
type Signer struct{ key []byte }

// NewSigner makes a signer of a secret key of at least 32 bytes.
func NewSigner(key []byte) Signer { return Signer{key: key} }

// Line renders a marker. It must stand after an empty line.
func (s Signer) Line(m Marker, subject string) string {
	codes := strings.Join(m.Codes, ",")
	m.SessionID = cmp.Or(m.SessionID, noSession)
	return "[//]: # (manifold " + m.SessionID + " " + codes + " " + s.sign("marker", m.SessionID, codes, subject) + ")"
}

// Read finds the last marker of a text that was made for this person.
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

// cardPrefix begins the id of a tool call that is an approval card of ours.
const cardPrefix = "mfc."

// Card gives the id of an approval card, which comes back with its answer.
func (s Signer) Card(m Marker, subject string) string {
	codes := strings.Join(m.Codes, "-")
	return cardPrefix + m.SessionID + "." + codes + "." + s.sign("card", m.SessionID, codes, subject)
}

// ReadCard reads the id of a card that was made for this person.
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
