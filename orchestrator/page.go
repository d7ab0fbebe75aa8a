package orchestrator

import (
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
)

// MaxPage bounds one page of a list.
const MaxPage = 100

// PageSize bounds what a caller wants of a list; 0 means as much as there may be.
func PageSize(limit int) int {
	if limit <= 0 || limit > MaxPage {
		return MaxPage
	}
	return limit
}

// EventPage is PageSize for events, which are small.
func EventPage(limit int) int {
	const most = 1000
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

// CheckMessage refuses what is no message at all.
func CheckMessage(message string) error {
	switch {
	case strings.TrimSpace(message) == "":
		return contracts.Invalid("the message is empty", contracts.Fault{Pointer: "/message", Message: "say what you want to be done"})
	case !utf8.ValidString(message):
		return contracts.Invalid("the message is not valid UTF-8", contracts.Fault{Pointer: "/message", Message: "send UTF-8"})
	case utf8.RuneCountInString(message) > contracts.MaxMessageChars:
		return contracts.Errorf(contracts.CodeTooLarge, "the message has more than %d characters", contracts.MaxMessageChars)
	}
	return nil
}

// DerivedID makes an id that follows from what identifies a request, so that a
// repeat finds what it began.
func DerivedID(prefix string, parts ...string) string {
	return prefix + "_" + contracts.HashBytes([]byte(strings.Join(parts, "\x00")))[:20]
}
