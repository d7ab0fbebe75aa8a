package chat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/orchestrator/chat"
)

func TestMarker(t *testing.T) {
	t.Parallel()
	signer := chat.NewSigner([]byte(strings.Repeat("k", 32)))
	other := chat.NewSigner([]byte(strings.Repeat("o", 32)))
	m := chat.Marker{SessionID: "ses_1", Codes: []string{"7K3Q2", "8M4R3"}}
	line := signer.Line(m, "ana")
	for why, c := range map[string]struct {
		text string
		want chat.Marker
		ok   bool
	}{
		"is read back at the end of an answer":    {"Text\n\n" + line, m, true},
		"is read back from Windows line ends":     {"Text\r\n\r\n" + line + "\r\n", m, true},
		"the last one counts":                     {line + "\n\n" + signer.Line(chat.Marker{SessionID: "ses_2"}, "ana"), chat.Marker{SessionID: "ses_2"}, true},
		"that of another person does not":         {signer.Line(m, "bob"), chat.Marker{}, false},
		"that of another installation does not":   {other.Line(m, "ana"), chat.Marker{}, false},
		"one with other gates does not":           {strings.Replace(line, "7K3Q2", "9N5S4", 1), chat.Marker{}, false},
		"one with another session does not":       {strings.Replace(line, "ses_1", "ses_9", 1), chat.Marker{}, false},
		"a forged one does not hide a real one":   {line + "\n\n" + other.Line(m, "ana"), m, true},
		"one inside a line is text":               {"see " + line, chat.Marker{}, false},
		"a history without one has none":          {"Text", chat.Marker{}, false},
		"an approval card's id is not a marker's": {"[//]: # (manifold " + signer.Card(m, "ana") + ")", chat.Marker{}, false},
	} {
		got, ok := signer.Read(c.text, "ana")
		if ok != c.ok || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %+v %v", why, got, ok)
		}
	}
}

func TestCardIDs(t *testing.T) {
	t.Parallel()
	signer := chat.NewSigner([]byte(strings.Repeat("k", 32)))
	m := chat.Marker{SessionID: "ses_1", Codes: []string{"7K3Q2"}}
	id := signer.Card(m, "ana")
	if got, ok := signer.ReadCard(id, "ana"); !ok || !cmp.Equal(got, m) {
		t.Errorf("%+v %v", got, ok)
	}
	for why, text := range map[string]string{
		"another person's": signer.Card(m, "bob"), "a changed one": strings.Replace(id, "7K3Q2", "8M4R3", 1),
		"somebody's own": "call_123", "a marker's signature": "mfc.ses_1.7K3Q2." + strings.TrimSuffix(strings.Fields(signer.Line(m, "ana"))[5], ")"),
	} {
		if got, ok := signer.ReadCard(text, "ana"); ok {
			t.Errorf("%s: %q is %+v", why, text, got)
		}
	}
}
