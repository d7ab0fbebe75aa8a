package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

//go:embed link.html
var linkHTML string

// linkStyle is the page's only style. The CSP allows nothing but its hash.
const linkStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ccc;overflow-wrap:anywhere}
button{font:inherit;padding:.6rem 1.2rem;margin:.5rem .5rem 0 0}textarea{font:inherit;width:100%}code{overflow-wrap:anywhere}`

// linkPage is the data of an approval page.
type linkPage struct {
	Style      template.CSS
	Title      string
	Text       string
	Refusal    string
	Code       string
	Person     string
	Hash       string
	Rows, Case [][2]string
	Form       bool
}

func confirmPage(l linked) linkPage {
	p := linkPage{Title: gateview.Asks(l.gate), Code: l.gate.Code, Person: l.who.Subject(), Hash: l.link.ActionSHA256, Form: true}
	p.Rows, p.Case = chat.GateRows(l.gate), chat.EvidenceRows(l.gate)
	for _, d := range chat.Changes(l.gate) {
		p.Case = append(p.Case, [2]string{"changed " + d.Pointer, chat.FormatBounded(l.gate, d.Before) + " → " + chat.FormatBounded(l.gate, d.After)})
	}
	if sent := chat.SentIDs(l.gate); sent != "" {
		p.Case = append(p.Case, [2]string{"sent as", sent})
	}
	p.Case = append(append(p.Case, [2]string{"what", l.gate.ToolName}), chat.ContextRows(l.gate)...)
	return p
}

func donePage(gate contracts.Interrupt) linkPage {
	p := linkPage{Title: gate.Code + " is " + string(gate.Status), Code: gate.Code, Text: "You can close this page. The chat shows how it goes on."}
	if gate.Status == contracts.InterruptOpen {
		p.Title, p.Text = gate.Code+": noted", fmt.Sprintf("It needs %d people.", gateview.People(gate))
	}
	return p
}

// refusePage says why a link is not accepted. Internal errors are only logged.
func (s *linkRoutes) refusePage(k *call, err error) error {
	if r, ok := errors.AsType[*refusal](err); ok {
		return s.write(k, r.status, linkPage{Title: "Nothing was decided", Text: r.text, Refusal: r.kind})
	}
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && k.ctx().Err() == nil {
		s.problems.log(k.gin, err)
	}
	advise(k.gin, p)
	kind := string(p.Code)
	if p.Code == contracts.CodeStaleApproval {
		kind = "changed"
	}
	return s.write(k, p.Status, linkPage{Title: "Nothing was decided", Text: p.Detail, Refusal: kind})
}

// write writes a page without scripts, resources or frames, whose form can be sent to this server
// only.
func (s *linkRoutes) write(k *call, status int, p linkPage) error {
	p.Style = linkStyle
	var body bytes.Buffer
	if err := s.pages.html.Execute(&body, p); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(linkStyle))
	h := k.gin.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	// The URL is a secret: it is sent as referrer to this server only. With no referrer at all,
	// browsers would not say where the form comes from.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	k.gin.Data(status, "text/html; charset=utf-8", body.Bytes())
	return nil
}
