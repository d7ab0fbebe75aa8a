package develop

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// mostPatterns bounds the patterns that are offered as a start.
const mostPatterns = 3

// patternsFor returns the patterns that match a goal and whose node definitions are unchanged.
func (d *Developer) patternsFor(ctx context.Context, call domainkit.Call, goal string) ([]site.PatternFacts, error) {
	all, err := d.site.Data.Patterns(ctx)
	out := []site.PatternFacts{}
	for _, p := range all {
		if len(out) == mostPatterns || likeness(p.Name+" "+p.Description+" "+p.Category, goal) < 2 {
			continue
		}
		now, err := d.site.PatternFingerprint(ctx, call.Instance, p.NodeTypes)
		if err != nil {
			return nil, err
		}
		if now == p.Fingerprint {
			out = append(out, site.SavedPattern(p))
		}
	}
	return out, err
}

// mostTemplates bounds the templates that are offered as a start.
const mostTemplates = 2

// templatesFor returns the marketplace templates that share the most words with a goal and can be
// used unchanged, best first.
func (d *Developer) templatesFor(ctx context.Context, call domainkit.Call, goal string) ([]knowledge.Template, error) {
	all, _, err := d.site.Templates(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	like := func(t knowledge.Template) int {
		return likeness(strings.Join(append([]string{t.Name, t.Description}, t.UseCases...), " "), goal)
	}
	all = slices.DeleteFunc(all, func(t knowledge.Template) bool { return t.Type == "Tool" || like(t) < 2 })
	slices.SortStableFunc(all, func(a, b knowledge.Template) int { return cmp.Compare(like(b), like(a)) })
	out := []knowledge.Template{}
	for _, t := range all[:min(len(all), 2*mostTemplates)] {
		whole, err := d.site.Template(ctx, call.Instance, t.Name)
		if err != nil {
			return nil, err
		}
		if _, err := d.author.Ready(ctx, call, whole); err == nil && len(out) < mostTemplates {
			out = append(out, t)
		}
	}
	return out, nil
}

// everyday are words without significance: most goals and templates have them.
var everyday = []string{"that", "with", "from", "this", "chat", "chatbot", "chatflow", "flow", "agent", "agents", "using", "user", "users", "build", "create", "develop", "simple", "called", "answer", "answers", "questions"}

// likeness counts the long words that two texts share.
func likeness(a, b string) int {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	have := words(b)
	return len(slices.DeleteFunc(words(a), func(w string) bool { return len(w) <= 3 || slices.Contains(everyday, w) || !slices.Contains(have, w) }))
}
