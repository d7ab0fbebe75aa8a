package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/examples/communication"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/examples/logistics"
	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestKill9AtEveryCommitOfConversations has a server kill itself, by SIGKILL, on either side
// of each commit that it makes in five conversations with a scripted model: three writes one
// after the other, data that flows to another domain, a further round, a correction at the
// second gate, and an undo. Each comes to what it is expected to come to, with each write done
// once and a replay that is equal. Others are gone through unharmed. A share of the commits and
// of the others is tried, by SAMPLE_SEED; MANIFOLD_NIGHTLY=1 tries all.
func TestKill9AtEveryCommitOfConversations(t *testing.T) {
	t.Parallel()
	set, items, others := conversations(t)
	town := newTown(t, set.Items)
	for _, at := range sample.Of(t, len(others), 4) {
		who, _ := town.person("asker-"+others[at].ID, others[at].Roles...)
		talk := &mortalTalk{town: town, set: set, item: others[at], who: who}
		talk.told("count 0")
	}
	rng := rand.New(rand.NewPCG(sample.Seed(t), 41))
	for _, item := range items {
		who, _ := town.person("asker-"+item.ID, item.Roles...)
		talk := &mortalTalk{town: town, set: set, item: item, who: who}
		if err := os.Remove(town.order + ".count"); err != nil && !errors.Is(err, os.ErrNotExist) { // of the conversation before
			t.Fatal(err)
		}
		unharmed := talk.told("count 0")
		all := sidesOf(town.count())
		if unharmed == 0 || len(all) < 20 {
			t.Fatalf("%s: %d writes in %d moments", item.ID, unharmed, len(all))
		}
		before, deaths := town.deaths, len(all)/2 // not each is reached: some commits come by the clock
		if !sample.Nightly() {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			deaths = 2
		}
		for _, at := range all {
			if !sample.Nightly() && town.deaths-before == deaths {
				break
			}
			if writes := talk.told(at); writes != unharmed {
				t.Errorf("%s, killed %s: %d writes, unharmed %d", item.ID, at, writes, unharmed)
			}
		}
		t.Logf("%s: %d writes, killed at %d of %d moments", item.ID, unharmed, town.deaths-before, len(all))
		if town.deaths-before < deaths {
			t.Errorf("%s: it died at %d of %d moments, and should at %d", item.ID, town.deaths-before, len(all), deaths)
		}
	}
}

// conversations are five to be killed in, and the others that need no tenant of people.
func conversations(t *testing.T) (set conversation.Set, five, others []conversation.Item) {
	t.Helper()
	raw, err := os.ReadFile("../../intent/eval/testdata/conversations/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	if set, err = conversation.Parse(raw, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, i := range set.Items {
		switch {
		case slices.Contains([]string{"three-writes", "prices-to-sales", "dearer-then-alert", "second-gate", "undo"}, i.ID):
			five = append(five, i)
		case !bytes.Contains(i.Script, []byte("workday")):
			others = append(others, i)
		}
	}
	if len(five) != 5 || len(others) < 15 {
		t.Fatalf("there are %d to be killed in and %d others", len(five), len(others))
	}
	return set, five, others
}

// town is a mortal server with three examples, and a model that answers by scripts.
type town struct {
	*mortalProcess

	mu      sync.Mutex          // guards results
	results map[string][]string // what writes gave, by the key of the request
	catalog conversation.Catalog
}

func newTown(t *testing.T, items []conversation.Item) *town {
	t.Helper()
	script := &scripted.Script{}
	for _, i := range items {
		own, err := scripted.ParseScript(slices.Concat([]byte(`{"rules":`), i.Script, []byte(`}`)))
		if err != nil {
			t.Fatal(err)
		}
		script.Rules = append(script.Rules, own.Rules...)
	}
	model := httptest.NewServer(scripted.New(script))
	t.Cleanup(model.Close)
	out := &town{
		mortalProcess: newMortalProcess(t, "--reasoning-engine", "openai", "--reasoning-model", "scripted", "--reasoning-base-url", model.URL+"/v1"),
		results:       map[string][]string{}, catalog: conversation.Catalog{},
	}
	prices, err := finance.New(finance.Config{})
	messages, errs := communication.New(t.Context(), communication.Config{})
	freight, errf := logistics.New(logistics.Config{})
	if err := errors.Join(err, errs, errf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = messages.Close() })
	for domain, svc := range map[string]interface{ Handler() (http.Handler, error) }{"finance": prices, "communication": messages, "logistics": freight} {
		handler, err := svc.Handler()
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(out.recorded(handler))
		t.Cleanup(server.Close)
		out.register(contracts.Registration{Domain: domain, URL: server.URL})
	}
	out.known()
	return out
}

// known reads the defaults of all parameters, which a grade needs.
func (o *town) known() {
	o.t.Helper()
	views, err := o.admin.Capabilities(o.t.Context(), "")
	if err != nil {
		o.t.Fatal(err)
	}
	for _, v := range views {
		c := conversation.Capability{Ref: v.Ref, Name: v.Name, Defaults: map[string]any{}}
		schema, _ := v.Schema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			declared, _ := p.(map[string]any)
			c.Defaults[name] = declared["default"]
		}
		o.catalog[v.Ref] = c
	}
}

// recorded keeps what each request with a key came to.
func (o *town) recorded(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the server has died, and asks again
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		var asked contracts.ExecuteRequest
		var result contracts.ToolResult
		if json.Unmarshal(body, &asked) == nil && asked.Context.IdempotencyKey != "" && json.Unmarshal(answer.Body.Bytes(), &result) == nil && result.OK {
			o.mu.Lock()
			key, facts := asked.Context.IdempotencyKey, asJSON(result.Facts)
			if !slices.Contains(o.results[key], facts) {
				o.results[key] = append(o.results[key], facts)
			}
			o.mu.Unlock()
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// writes counts the keys of a run, each of which has one result.
func (o *town) writes(runID string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for key, results := range o.results {
		if !strings.HasPrefix(key, runID+"/") {
			continue
		}
		n++
		if len(results) != 1 {
			o.t.Errorf("%s was done %d times: %v", key, len(results), results)
		}
	}
	return n
}

// mortalTalk is a conversation with a server that dies.
type mortalTalk struct {
	*town

	set  conversation.Set
	item conversation.Item
	who  *client.Client

	session  contracts.SessionResponse
	approved []conversation.Gate
}

// told has the conversation with one order to the server, checks its result, and gives
// how many writes were done.
func (c *mortalTalk) told(order string) int {
	c.t.Helper()
	if err := os.WriteFile(c.order, []byte(order), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.session, c.approved = contracts.SessionResponse{}, nil
	var earlier []string
	for n, turn := range c.item.Turns {
		if turn == conversation.TurnApprove {
			c.approves()
		} else {
			earlier = c.session.RunIDs
			c.says(turn, fmt.Sprint(c.item.ID, " ", order, " ", n))
		}
		c.settled()
	}
	if err := os.Remove(c.order); err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	return c.judged(order, earlier)
}

// until does something again until it is done, and starts the server again in between.
func (c *mortalTalk) until(what string, done func(ctx context.Context) (bool, error)) {
	c.t.Helper()
	for begun := time.Now(); ; c.revived() {
		ok, err := done(c.t.Context())
		if ok && err == nil {
			return
		}
		if time.Since(begun) > patience {
			c.t.Fatalf("%s: %s in vain: %v\n%s", c.item.ID, what, err, asJSON(c.session))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *mortalTalk) says(text, key string) {
	c.t.Helper()
	c.until("said "+text, func(ctx context.Context) (bool, error) {
		var said contracts.SessionResponse
		var err error
		if c.session.SessionID == "" {
			said, err = c.who.StartSession(ctx, contracts.StartSession{Message: text}, client.Opt{IdempotencyKey: key})
		} else {
			said, err = c.who.Say(ctx, c.session.SessionID, text, client.Opt{IdempotencyKey: key})
		}
		if err == nil {
			c.session = said
		}
		return true, err
	})
}

// settled waits until nothing moves any more.
func (c *mortalTalk) settled() {
	c.t.Helper()
	last := ""
	c.until("waited", func(ctx context.Context) (bool, error) {
		now, err := c.who.Session(ctx, c.session.SessionID, client.Opt{Wait: time.Second})
		if err != nil || now.Status == contracts.SessionRunning {
			return false, err
		}
		c.session = now
		for _, id := range now.RunIDs {
			if run, err := c.who.Run(ctx, id, client.Opt{}); err != nil || run.State == contracts.RunRunning {
				return false, err
			}
		}
		seen := asJSON([]any{now.Status, now.RunIDs, now.Interrupts, now.Answer})
		still := seen == last
		last = seen
		return still, nil
	})
}

// approves lets an approver decide on what waits now, and no more.
func (c *mortalTalk) approves() {
	c.t.Helper()
	var waiting []contracts.Interrupt
	open := func(ctx context.Context) (now []contracts.Interrupt, err error) {
		return c.otto.Gates(ctx, client.GatesFilter{SessionID: c.session.SessionID, Status: contracts.InterruptOpen, Type: contracts.InterruptWriteApproval})
	}
	c.until("looked for a gate", func(ctx context.Context) (bool, error) {
		var err error
		waiting, err = open(ctx)
		return true, err // two gates may have been open at once
	})
	for _, gate := range waiting {
		c.approved = append(c.approved, conversation.Gate{RunID: gate.RunID, Node: gate.NodeID})
		c.until("approved "+gate.Code, func(ctx context.Context) (bool, error) {
			_, _ = c.otto.Approve(ctx, gate, "", client.Opt{}) // the dying server may have taken it
			now, err := open(ctx)
			return !slices.ContainsFunc(now, func(i contracts.Interrupt) bool { return i.InterruptID == gate.InterruptID }), err
		})
	}
}

func (c *mortalTalk) judged(order string, earlier []string) (writes int) {
	c.t.Helper()
	played := conversation.Played{Session: c.session, Approved: c.approved}
	for _, id := range c.session.RunIDs {
		run, err := c.who.Run(c.t.Context(), id, client.Opt{})
		if err != nil {
			c.t.Fatal(err)
		}
		writes += c.writes(id)
		c.sound(run)
		ended := slices.Contains([]contracts.RunState{contracts.RunCancelled, contracts.RunRejected}, run.State)
		if slices.Contains(earlier, id) && (ended || len(earlier) < len(c.session.RunIDs)) {
			played.Old = append(played.Old, run)
		} else {
			played.Runs = append(played.Runs, run)
		}
	}
	if j := conversation.Judge(c.set, c.item, played, c.catalog); j.Grade != conversation.Right || j.Effects != 0 {
		c.t.Errorf("%s, killed %s: %s, %s\n%s", c.item.ID, order, j.Grade, j.Why, conversation.NewRow(c.item, played, j).Text())
	}
	return writes
}
