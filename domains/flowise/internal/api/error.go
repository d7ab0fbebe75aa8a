package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/upstream"
)

// Kind is the kind of an Error.
type Kind string

// The kinds of errors.
const (
	KindInvalid      Kind = "invalid"      // 400, 412: the server rejects the request
	KindUnauthorized Kind = "unauthorized" // 401: the key is unknown
	KindForbidden    Kind = "forbidden"    // 403: the key lacks a permission
	KindNotFound     Kind = "not_found"    // 404, or a 500 that says so
	KindConflict     Kind = "conflict"     // the id belongs to another flow
	KindTooLarge     Kind = "too_large"    // 413, or an answer above the limit
	KindBusy         Kind = "busy"         // 429
	KindFailed       Kind = "failed"       // the server executed the request and failed: 500 with Flowise's own message
	KindUnavailable  Kind = "unavailable"  // 5xx of a proxy, or no answer
	KindBadAnswer    Kind = "bad_answer"   // an answer that is not in Flowise's format, such as a page
	KindTimeout      Kind = "timeout"      // the caller's context ended
)

func (k Kind) code() contracts.Code {
	codes := map[Kind]contracts.Code{
		KindInvalid: contracts.CodeInvalid, KindUnauthorized: contracts.CodeUnauthorized,
		KindForbidden: contracts.CodeForbidden, KindNotFound: contracts.CodeNotFound,
		KindConflict: contracts.CodeConflict, KindTooLarge: contracts.CodeTooLarge,
		KindBusy: contracts.CodeRateLimited, KindFailed: contracts.CodeInternal,
	}
	if code, known := codes[k]; known {
		return code
	}
	return contracts.CodeUnavailable
}

// Error is the error of a call to the server.
type Error struct {
	Op      string // the called operation, for example "POST /chatflows"
	Kind    Kind
	Status  int // 0 if there was no answer
	Message string
	// RetryAfter is the wait that the server requested, or 0.
	RetryAfter time.Duration
	// Effect is the known effect of a write: none, unknown or applied. It is none for reads.
	Effect contracts.Effect
	Cause  error
}

// Error returns the operation and the reason.
func (e *Error) Error() string {
	text := fmt.Sprintf("flowise %s: %s", e.Op, e.Reason())
	switch e.Effect {
	case contracts.EffectUnknown:
		return text + " (it may have taken place)"
	case contracts.EffectApplied:
		return text + " (it took place)"
	case contracts.EffectNone:
		return text
	default:
		return text
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// As converts an Error to a contracts.Error.
func (e *Error) As(target any) bool {
	out, is := target.(**contracts.Error)
	if is {
		*out = &contracts.Error{Code: e.Kind.code(), Message: e.Error(), Cause: e.Cause}
	}
	return is
}

// serviceCall matches the internal function that an error message starts with.
var serviceCall = regexp.MustCompile(`^(Error: )?[A-Za-z]+\.[A-Za-z]+ - `)

// Reason returns the text for people: the server's message, if there is one.
func (e *Error) Reason() string {
	switch {
	case e.Message != "":
		return serviceCall.ReplaceAllString(e.Message, "")
	case e.Status != 0:
		return fmt.Sprintf("status %d", e.Status)
	case e.Cause != nil:
		return e.Cause.Error()
	}
	return string(e.Kind)
}

// AsError returns the Error in err's chain.
func AsError(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// IsKind reports whether err is an Error of that kind.
func IsKind(err error, kind Kind) bool {
	e, is := AsError(err)
	return is && e.Kind == kind
}

// statusError returns the Error of a response other than 2xx.
func statusError(op call, got answer, now time.Time) *Error {
	said, own := ownWords(got)
	e := &Error{
		Op: op.name(), Kind: kindOf(got.status), Status: got.status, Message: said,
		RetryAfter: upstream.RetryAfter(got.header, now), Effect: contracts.EffectNone,
	}
	if got.status >= http.StatusInternalServerError {
		if own {
			e.Kind = KindFailed
		}
		// A prediction reports "Ending nodes not found" about the flow itself.
		if own && op.area != areaPrediction && saysNotFound(said) {
			e.Kind = KindNotFound
		}
		if op.write() && e.Kind != KindNotFound {
			e.Effect = contracts.EffectUnknown
		}
	}
	return e
}

// ownWords returns the message of an answer, and reports whether it is Flowise's own and not a
// proxy's.
func ownWords(got answer) (message string, own bool) {
	var said struct {
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if !got.is("application/json") {
		return plainWords(got), false
	}
	if json.Unmarshal(got.body, &said) != nil {
		return "", false
	}
	for _, raw := range []json.RawMessage{said.Message, said.Error} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return cut(text), true
		}
	}
	return cut(string(bytes.TrimSpace(got.body))), said.Message != nil
}

// plainWords returns a short text, such as the message of a rate limit, but no HTML.
func plainWords(got answer) string {
	text := strings.TrimSpace(string(got.body))
	if strings.HasPrefix(text, "<") || len(text) > 300 {
		return ""
	}
	return text
}

const maxMessage = 1000

func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

// saysNotFound recognizes the 500s that mean 404. For the history of a missing flow the server
// reports unauthorized access.
func saysNotFound(message string) bool {
	text := strings.ToLower(message)
	return strings.Contains(text, "not found") || strings.HasSuffix(text, "chatmessagesservice.getallchatmessages - unauthorized access")
}

func kindOf(status int) Kind {
	switch {
	case status == http.StatusUnauthorized:
		return KindUnauthorized
	case status == http.StatusForbidden:
		return KindForbidden
	case status == http.StatusNotFound:
		return KindNotFound
	case status == http.StatusRequestEntityTooLarge:
		return KindTooLarge
	case status == http.StatusTooManyRequests:
		return KindBusy
	case status >= http.StatusInternalServerError:
		return KindUnavailable
	case status >= http.StatusBadRequest:
		return KindInvalid
	default:
		return KindBadAnswer // a redirect, usually to a login page
	}
}
