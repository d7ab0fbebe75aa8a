package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/contracts/metrics"
)

//go:embed run.html
var htmlPage string

// style is the page's only style. The CSP allows nothing but its hash.
const style = `body{font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff;max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{margin-top:2rem;border-bottom:2px solid #111}table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border:1px solid #999;overflow-wrap:anywhere}thead{display:table-header-group}
.facts{width:auto}.text{white-space:pre-wrap}code{font-size:.9em;overflow-wrap:anywhere}.ledger code{font-size:.75em}article{border-left:4px solid #111;padding-left:1rem;margin:1rem 0}
@media print{body{margin:0;max-width:none}tr,article h3{break-inside:avoid}h2{break-after:avoid}}`

// AuditedRun is the content of the exported file.
type AuditedRun struct {
	View    contracts.RunView       `json:"run"`
	Figures metrics.RunMetrics      `json:"figures"`
	Gates   []contracts.Interrupt   `json:"gates"`
	Ledger  []contracts.LedgerEntry `json:"ledger"`
	At      time.Time               `json:"exported_at"`
}

// auditedGate is an interrupt with its texts.
type auditedGate struct {
	contracts.Interrupt

	Asks  string
	Rows  []gateview.Row
	Lines [][2]string
}

// WriteHTML writes a run as an HTML page.
func WriteHTML(w io.Writer, run AuditedRun) error {
	t, err := template.New("run").Funcs(template.FuncMap{"moment": moment, "took": took, "shown": shown}).Parse(htmlPage)
	if err != nil {
		return fmt.Errorf("the page of a run: %w", err)
	}
	sum := sha256.Sum256([]byte(style))
	gates := make([]auditedGate, len(run.Gates))
	for i, g := range run.Gates {
		gates[i] = auditedGate{Interrupt: g, Asks: gateview.Asks(g), Rows: gateview.Of(g), Lines: gateview.Lines(g)}
	}
	return t.Execute(w, map[string]any{
		"View": run.View, "Figures": run.Figures, "Gates": gates, "Ledger": run.Ledger, "At": run.At,
		"Owner": run.View.Plan.Owner.ID, "Style": template.CSS(style), "StyleHash": "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), //nolint:gosec // a constant
	})
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

func took(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// shown formats a value for people: text unchanged, other values as JSON.
func shown(v any) (string, error) {
	if text, ok := v.(string); ok {
		return gateview.Visible(text), nil
	}
	body, err := json.Marshal(v)
	return gateview.Visible(string(body)), err
}
