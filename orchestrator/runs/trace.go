package runs

import (
	"net/url"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// traceIDPlace is the placeholder of the trace id in the trace URL.
const traceIDPlace = "{trace_id}"

// checkTraceURL returns an error unless the template is an absolute http or https URL with a trace
// id placeholder.
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
