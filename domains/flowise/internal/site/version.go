package site

import (
	"context"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Version finds a version of a flow by a person's words: its label, "version 2", or its position,
// such as "the last one" or "the one before". It also returns the graph.
func (s *Site) Version(ctx context.Context, call domainkit.Call, chatflowID, said string) (store.Version, string, error) {
	label := versionLabel(said)
	v, body, err := s.Data.Version(ctx, call.Instance, chatflowID, label)
	from, named := PlaceOf(said)
	if contracts.CodeOf(err) != contracts.CodeNotFound || !named {
		return v, body, err
	}
	list, _, listErr := s.Data.Versions(ctx, call.Instance, chatflowID, 1000)
	if listErr != nil {
		return v, body, listErr
	}
	if from < 0 {
		from += len(list)
	}
	if from < 0 || from >= len(list) {
		return v, body, err
	}
	return s.Data.Version(ctx, call.Instance, chatflowID, list[from].Label)
}

// versionLabel converts "version 2" to "2".
func versionLabel(said string) string {
	said = strings.TrimSpace(said)
	if head, rest, two := strings.Cut(said, " "); two && strings.HasPrefix(strings.ToLower(head), "ver") {
		return strings.TrimSpace(rest)
	}
	return said
}

// places are the words for a position among versions, counted from the newest, or if negative from
// the oldest.
func places() map[int][]string {
	return map[int][]string{
		1:  {"before", "previous", "penultimate", "anterior", "antes", "davor", "vorige", "vorherige", "vorletzte", "précédente", "avant"},
		0:  {"last", "latest", "newest", "última", "letzte", "neueste", "más reciente", "mais recente", "dernière"},
		-1: {"first", "oldest", "original", "primeira", "primera", "erste", "première"},
	}
}

// PlaceOf parses a position; "the last but one" is the one before the last.
func PlaceOf(said string) (from int, named bool) {
	said = strings.ToLower(said)
	for _, from := range []int{1, 0, -1} {
		for _, word := range places()[from] {
			if strings.Contains(said, word) {
				if from == 0 && strings.Contains(said, "but one") {
					return 1, true
				}
				return from, true
			}
		}
	}
	return 0, false
}
