package orchestrator

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// EventsOf returns a page of the session's events that satisfy wanted; a nil wanted selects all.
func EventsOf(ctx context.Context, journal execution.Journal, sessionID string, p contracts.Page, wanted func(contracts.Event) bool) (contracts.List[contracts.Event], error) {
	p = p.Bounded(contracts.MaxEvents)
	after, err := p.Seq()
	if err != nil {
		return contracts.List[contracts.Event]{}, err
	}
	size := contracts.MaxEvents
	if wanted == nil {
		size = p.Limit + 1
	}
	var found []contracts.Event
	for len(found) <= p.Limit {
		batch, err := journal.Events(ctx, sessionID, after, size)
		if err != nil {
			return contracts.List[contracts.Event]{}, err
		}
		for _, e := range batch {
			if after = e.Seq; (wanted == nil || wanted(e)) && len(found) <= p.Limit {
				found = append(found, e)
			}
		}
		if len(batch) < size {
			break
		}
	}
	return contracts.Cut(found, p.Limit, func(e contracts.Event) string { return contracts.SeqCursor(e.Seq) }), nil
}

// CheckMessage returns an error if the message is empty, too long or not valid UTF-8.
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

// DerivedID returns an id computed from what identifies a request, so that a repeat of the request
// finds what the first one created.
func DerivedID(prefix string, parts ...string) string {
	return prefix + "_" + contracts.HashBytes([]byte(strings.Join(parts, "\x00")))[:20]
}
