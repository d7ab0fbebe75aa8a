package runs

import (
	"net/url"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// traceIDPlace is where the id of a trace stands in the address of the site's traces.
const traceIDPlace = "{trace_id}"

// checkTraceURL refuses what leads nowhere, or to something else than a page.
func checkTraceURL(template string) error {
	if template == "" {
		return nil
	}
	at, err := url.Parse(strings.ReplaceAll(template, traceIDPlace, "0"))
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil || !strings.Contains(template, traceIDPlace) {
		return contracts.Errorf(contracts.CodeInvalid, "the address of traces must be http:// or https://, without a user, and have %s where the id of a trace stands", traceIDPlace)
	}
	return nil
}
