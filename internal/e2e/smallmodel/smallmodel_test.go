package smallmodel_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

const (
	// patience is the bound of a call of the model, and answered that of one message: a model that is late is left out,
	// so a message may take one call after the other, and the rest.
	patience = 30 * time.Second
	answered = 3 * patience
)

// TestASmallModel says messages of all kinds to a server that asks a model which understands next to nothing. Each one
// is answered or asked about, the server goes on, and nothing is done that nobody approved.
func TestASmallModel(t *testing.T) {
	if os.Getenv("SMALLMODEL") != "1" {
		t.Skip("it installs a language model from npm and PyPI; make test-model runs it")
	}
	site := startSite(t, startModel(t))
	said := messages(t, site.admin, uint64(number(t, "SEED", 1)), number(t, "MESSAGES", 12))
	var all []figures
	var open contracts.SessionResponse // the session that waits for an answer
	for n, message := range said {
		var f figures
		f, open = site.say(t, open, message)
		t.Logf("%d of %d: %s, %s, %d + %d tokens: %.80q", n+1, len(said), f.outcome, f.took.Round(time.Millisecond), f.tokens.In, f.tokens.Out, message)
		all = append(all, f)
	}
	if ready, err := site.admin.Ready(t.Context()); err != nil {
		t.Errorf("the server is not ready any more: %+v, %v", ready, err)
	}
	if effects := site.effects.all(); len(effects) > 0 {
		t.Errorf("nobody approved anything, and this was done: %q", effects)
	}
	t.Log(table(all))
	if asked := slices.ContainsFunc(all, func(f figures) bool { return f.tokens.Out > 0 }); !asked {
		t.Error("the model was never asked")
	}
}

// number is a setting by the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number from 1, not %q", name, text)
	}
	return n
}

// figures are the outcome of a message.
type figures struct {
	outcome string
	took    time.Duration
	tokens  contracts.Tokens
}

// say says a message, in a session that waits for an answer where there is one, and waits
// until it is answered or something is asked of a person, which must come within the
// bound. It returns the session if that waits now and did not before, so that every other
// question is answered with what has nothing to do with it.
func (s *site) say(t *testing.T, open contracts.SessionResponse, message string) (f figures, waits contracts.SessionResponse) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answered)
	defer cancel()
	start := time.Now()
	view, err := s.send(ctx, open.SessionID, message)
	if err == nil && view.Status == contracts.SessionRunning {
		view, err = s.rita.AwaitSession(ctx, view.SessionID)
	}
	f = figures{took: time.Since(start), tokens: contracts.Tokens{In: view.Tokens.In - open.Tokens.In, Out: view.Tokens.Out - open.Tokens.Out}}
	if err != nil {
		t.Errorf("%q has no answer: %v", message, err)
		f.outcome = "none"
		return f, waits
	}
	f.outcome = outcome(view)
	if f.outcome == "none" {
		t.Errorf("%q is said to be %s, with no answer and nothing asked", message, view.Status)
	}
	if open.SessionID == "" && view.Interrupt != nil {
		waits = view
	}
	return f, waits
}

func (s *site) send(ctx context.Context, session, message string) (contracts.SessionResponse, error) {
	if session == "" {
		return s.rita.StartSession(ctx, contracts.StartSession{Message: message}, client.Opt{Wait: patience})
	}
	return s.rita.Say(ctx, session, message, client.Opt{Wait: patience})
}

// outcome is what a session came to, in a word.
func outcome(view contracts.SessionResponse) string {
	if view.Interrupt != nil {
		return string(view.Interrupt.Type)
	}
	if view.Answer == nil || len(view.Answer.Blocks) == 0 {
		return "none"
	}
	return string(view.Status)
}

// table shows how messages ended, how long they took and what they cost.
func table(all []figures) string {
	by := map[string][]figures{"all": all}
	for _, f := range all {
		by[f.outcome] = append(by[f.outcome], f)
	}
	var out strings.Builder
	out.WriteString("\n| outcome | messages | by the model | p50 | p95 | slowest | tokens in, mean | tokens out, mean |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(len(by[b])-len(by[a]), strings.Compare(a, b)) })
	for _, name := range names {
		row(&out, name, by[name])
	}
	return out.String()
}

func row(out *strings.Builder, name string, of []figures) {
	slices.SortFunc(of, func(a, b figures) int { return cmp.Compare(a.took, b.took) })
	at := func(share float64) time.Duration {
		return of[int(share*float64(len(of)-1))].took.Round(time.Millisecond)
	}
	var in, gone, read int
	for _, f := range of {
		in, gone = in+f.tokens.In, gone+f.tokens.Out
		if f.tokens.Out > 0 {
			read++ // the others took too long, or met the pause after some that did
		}
	}
	fmt.Fprintf(out, "| %s | %d | %d | %s | %s | %s | %d | %d |\n", name, len(of), read, at(0.5), at(0.95), at(1), in/len(of), gone/len(of))
}
