package conversations

import (
	"context"
	_ "embed" // for what the demo is seeded with
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// Options specify the set, the server and the model.
type Options struct {
	File, Seed, Only string
	Jobs             int
	// Model is perfect, trap, script, or the name of a model in Recorded; empty means none.
	Model, Dialect, Recorded string
	// ModelAddr is the address that the model is served at [a free port]: a server that is not
	// started here must be configured with it.
	ModelAddr string
	// Server is the URL of a running server; if it is empty, Demo is started.
	Server, Key, Keys, AdminKey, Demo string
	// Embeddings selects the embeddings of the demo [its default].
	Embeddings string
	// Domains are additional domain services for the demo, as NAME=URL.
	Domains []string
	// Done is called after each conversation.
	Done func(row conversation.Row, n, all int)
}

// The models that need no recording.
const (
	ModelPerfect = "perfect"
	ModelTrap    = "trap"
	ModelScript  = "script"
)

//go:embed demo.json
var demoSet []byte

// Run plays and grades a set.
func Run(ctx context.Context, o Options) (report conversation.Report, transcript conversation.Transcript, err error) {
	set, err := load(o)
	if err != nil {
		return report, transcript, err
	}
	m, err := newModel(o, set)
	if err != nil {
		return report, transcript, err
	}
	url, stop, err := m.serve(ctx, o.ModelAddr)
	if err != nil {
		return report, transcript, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s, err := open(ctx, o, url)
	if err != nil {
		return report, transcript, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	r := &run{options: o, set: set, stage: s, model: m, played: map[string]conversation.Played{}}
	rows, err := r.all(ctx)
	if err != nil {
		return report, transcript, err
	}
	report = conversation.NewReport(rows)
	if m.answers != nil {
		report.Model = m.script.seen()
	}
	return report, conversation.Transcript{Catalog: r.catalog, Played: r.played}, nil
}

func open(ctx context.Context, o Options, modelURL string) (*stage, error) {
	if o.Server != "" {
		return connect(o)
	}
	s, err := startDemo(ctx, o, modelURL)
	if err != nil {
		return nil, err
	}
	for _, named := range o.Domains {
		if err := s.join(ctx, named); err != nil {
			return nil, errors.Join(fmt.Errorf("domain %s: %w", named, err), s.stop())
		}
	}
	return s, nil
}

// load reads the set. Missing seeds are taken from --seed, or, with a started demo, from the
// built-in set.
func load(o Options) (conversation.Set, error) {
	set, err := readSet(o.File)
	if err != nil {
		return set, err
	}
	var more conversation.Set
	switch {
	case o.Seed != "":
		more, err = readSet(o.Seed)
	case o.Server == "" && len(set.Seed) == 0:
		more, err = conversation.Parse(demoSet, time.Now())
	}
	if err != nil {
		return set, err
	}
	set.Seed = append(set.Seed, more.Seed...)
	if set.Surface == nil {
		set.Surface = more.Surface
	}
	set.Items = slices.DeleteFunc(set.Items, func(i conversation.Item) bool { return !selected(i, o.Only) })
	if len(set.Items) == 0 {
		return set, contracts.Errorf(contracts.CodeInvalid, "no conversation of %s has %q in its id, as a tag or as its language", o.File, o.Only)
	}
	// Items that change the world are played last, one by one.
	slices.SortStableFunc(set.Items, func(a, b conversation.Item) int { return changes(a) - changes(b) })
	return set, nil
}

func readSet(path string) (conversation.Set, error) {
	body, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return conversation.Set{}, err
	}
	set, err := conversation.Parse(body, time.Now())
	if err != nil {
		return set, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

func selected(i conversation.Item, only string) bool {
	return only == "" || strings.Contains(i.ID, only) || slices.Contains(i.Tags, only) || i.Lang == only
}

func changes(i conversation.Item) int {
	if slices.Contains(i.Turns, conversation.TurnApprove) {
		return 1
	}
	return 0
}

// model is the model behind the server; answers is nil if there is none.
type model struct {
	script  *script
	answers scripted.Answerer
	trap    *trap
}

func newModel(o Options, set conversation.Set) (model, error) {
	m := model{script: &script{items: set.Items}}
	switch {
	case o.Recorded != "":
		r, err := readRecorded(o.Recorded, o.Model, m.script)
		if err != nil {
			return m, err
		}
		m.answers = r
	case o.Model == ModelPerfect:
		m.answers = perfect{m.script, set.Rules, dialect{name: o.Dialect, surface: set.Surface}}
	case o.Model == ModelScript:
		s, err := newScripted(m.script)
		if err != nil {
			return m, err
		}
		m.answers = s
	case o.Model == ModelTrap:
		m.trap = &trap{script: m.script}
		m.answers = m.trap
	}
	return m, nil
}

func (m model) serve(ctx context.Context, addr string) (url string, stop func() error, err error) {
	if m.answers == nil {
		return "", func() error { return nil }, nil
	}
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	return serveModel(ctx, addr, m.answers)
}

// run is one run over a set.
type run struct {
	options Options
	set     conversation.Set
	stage   *stage
	model   model
	catalog conversation.Catalog

	mu     sync.Mutex // guards rows and played
	rows   []conversation.Row
	played map[string]conversation.Played
}

func (r *run) all(ctx context.Context) ([]conversation.Row, error) {
	p := player{r.stage, map[string]string{}}
	if err := r.prepare(ctx, p); err != nil {
		return nil, err
	}
	still := slices.IndexFunc(r.set.Items, func(i conversation.Item) bool { return changes(i) == 1 })
	if still < 0 {
		still = len(r.set.Items)
	}
	err := r.each(ctx, p, r.set.Items[:still], max(1, r.options.Jobs))
	if err == nil {
		err = r.each(ctx, p, r.set.Items[still:], 1)
	}
	conversation.Sort(r.rows, r.set.Items)
	return r.rows, err
}

// prepare reads the catalog and plays the seed of the set.
func (r *run) prepare(ctx context.Context, p player) (err error) {
	who := r.stage.admin
	requester, err := r.stage.named(keyRequester)
	if err != nil {
		return err
	}
	if who == nil {
		who = requester
	}
	var writes map[string]bool
	if r.catalog, writes, err = r.known(ctx, who, requester); err != nil {
		return err
	}
	if r.model.trap != nil {
		r.model.trap.know(writes)
	}
	for _, a := range r.set.Seed {
		if err := p.seed(ctx, requester, a); err != nil {
			return fmt.Errorf("seed %s: %w", a.Capability, err)
		}
	}
	return nil
}

// known merges the catalogs of several users: an admin can read the prompts, a requester the usable
// capabilities.
func (r *run) known(ctx context.Context, who ...*client.Client) (conversation.Catalog, map[string]bool, error) {
	all, writes := conversation.Catalog{}, map[string]bool{}
	for _, c := range who {
		catalog, w, err := catalogOf(ctx, c)
		if err != nil {
			return nil, nil, fmt.Errorf("what is offered: %w", err)
		}
		for ref, one := range catalog {
			if _, ok := all[ref]; !ok {
				all[ref] = one
			}
			writes[ref] = writes[ref] || w[ref]
		}
	}
	return all, writes, nil
}

// each plays conversations, jobs of them concurrently.
func (r *run) each(ctx context.Context, p player, items []conversation.Item, jobs int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan conversation.Item)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for item := range queue {
				if err := r.one(ctx, p, item); err != nil {
					cancel(fmt.Errorf("%s: %w", item.ID, err))
				}
			}
		})
	}
	for _, item := range items {
		if ctx.Err() == nil {
			queue <- item
		}
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

func (r *run) one(ctx context.Context, p player, item conversation.Item) error {
	played, err := p.play(ctx, item)
	if err != nil {
		return err
	}
	row := conversation.NewRow(item, played, conversation.Judge(r.set, item, played, r.catalog))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows, r.played[item.ID] = append(r.rows, row), played
	if r.options.Done != nil {
		r.options.Done(row, len(r.rows), len(r.set.Items))
	}
	return nil
}
