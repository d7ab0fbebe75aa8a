// Command beside runs the four workflows of the logistics example with parallel reads and with
// sequential reads, in turn, and prints the durations as Markdown: go run ./bench/beside. The two
// servers differ only in the flag parallel_reads. It also compares the answers and checks the
// ledgers, and fails if they differ.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/examples/logistics"
	"github.com/manifold-run/manifold/internal/app"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each is played, after one round to warm up")
	delay := flag.Duration("delay", 200*time.Millisecond, "about how long each answer of the domain takes")
	flag.Parse()
	if err := report(context.Background(), os.Stdout, *rounds, *delay); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

// asked is a workflow and its sentence.
type asked struct{ role, say string }

func workflows() []asked {
	return []asked{
		{"driver", "should I apply to Cedar Line Transport"},
		{"recruiter", "assess the candidates in the Midwest before outreach"},
		{"admin", "triage the platform"},
		{"carrier", "give me a compliance snapshot of our company"},
	}
}

// site is a server with the domain, and a client for each person.
type site struct {
	people map[string]*client.Client
	close  func() error
}

// played is one run: its machine time, and its result.
type played struct {
	took   time.Duration
	calls  int
	gates  int
	answer []byte
}

func report(ctx context.Context, out io.Writer, rounds int, delay time.Duration) (err error) {
	folder, err := os.MkdirTemp("", "manifold-beside-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	var sites [2]*site
	for i, value := range []string{"off", "on"} {
		if sites[i], err = open(ctx, filepath.Join(folder, value), "parallel_reads="+value, delay); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sites[i].close()) }()
	}
	var page bytes.Buffer
	fmt.Fprintln(&page, "| workflow | calls | approvals | one after the other | side by side | factor | answers |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |")
	for _, w := range workflows() {
		line, err := compare(ctx, sites, w, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", w.say, err)
		}
		fmt.Fprintln(&page, line)
	}
	_, err = out.Write(page.Bytes())
	return err
}

// compare runs a workflow at both sites in turn.
func compare(ctx context.Context, sites [2]*site, w asked, rounds int) (string, error) {
	var took [2][]time.Duration
	var last [2]played
	for round := range rounds + 1 {
		for i, s := range sites {
			p, err := s.play(ctx, w)
			if err != nil {
				return "", err
			}
			if last[i] = p; round > 0 {
				took[i] = append(took[i], p.took)
			}
		}
		if !bytes.Equal(last[0].answer, last[1].answer) || last[0].calls != last[1].calls || last[0].gates != last[1].gates {
			return "", fmt.Errorf("the answers differ:\n%s\n%s", last[0].answer, last[1].answer)
		}
	}
	slow, fast := median(took[0]), median(took[1])
	return fmt.Sprintf("| %s | %d | %d | %.2f s | %.2f s | %.1f | the same %d bytes |",
		w.role, last[0].calls, last[0].gates, slow.Seconds(), fast.Seconds(), slow.Seconds()/fast.Seconds(), len(last[0].answer)), nil
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// play sends the request, approves at once, and waits for the end.
func (s *site) play(ctx context.Context, w asked) (played, error) {
	begun := time.Now()
	r, err := s.people[w.role].StartSession(ctx, contracts.StartSession{Message: w.say}, client.Opt{Wait: 30 * time.Second})
	if err != nil || len(r.RunIDs) != 1 {
		return played{}, errors.Join(err, fmt.Errorf("the session is %s", r.Status))
	}
	took, gates := time.Since(begun), 0
	if r.Interrupt != nil {
		gates++
		begun = time.Now()
		if _, err := s.people["approver"].Approve(ctx, *r.Interrupt, "", client.Opt{Wait: 30 * time.Second}); err != nil {
			return played{}, err
		}
	}
	view, err := s.people[w.role].Run(ctx, r.RunIDs[0], client.Opt{})
	for err == nil && !view.State.Terminal() {
		view, err = s.people[w.role].Run(ctx, r.RunIDs[0], client.Opt{Wait: 30 * time.Second})
	}
	if err != nil {
		return played{}, err
	}
	if gates > 0 { // the work after the approval
		took += time.Since(begun)
	}
	return s.told(ctx, view, played{took: took, gates: gates})
}

// told checks the result of a run: its answer, its verdict and its ledger.
func (s *site) told(ctx context.Context, view contracts.RunView, p played) (played, error) {
	if view.State != contracts.RunCompleted || view.Verdict == nil || view.Verdict.Status != contracts.VerdictVerified {
		return p, fmt.Errorf("the run is %s, %+v", view.State, view.Verdict)
	}
	if chain, err := s.people["operator"].AuditVerify(ctx, view.RunID); err != nil || !chain.OK {
		return p, errors.Join(err, fmt.Errorf("the ledger of %s does not hold: %+v", view.RunID, chain))
	}
	for _, n := range view.Nodes {
		if n.Tool != "" && n.ForEach == nil {
			p.calls++
		}
	}
	blocks := slices.Clone(view.Answer.Blocks)
	for i := range blocks { // the id of what was sent differs each time
		if _, after, ok := strings.Cut(blocks[i].Text, "(ch-"); ok && after != "" {
			blocks[i].Text, _, _ = strings.Cut(blocks[i].Text, "(ch-")
		}
	}
	var err error
	p.answer, err = json.Marshal(blocks)
	return p, err
}

func open(ctx context.Context, folder, setting string, delay time.Duration) (*site, error) {
	rollout, err := metrics.ParseRollout([]string{setting})
	if err != nil {
		return nil, err
	}
	svc, err := logistics.New(logistics.Config{Delay: delay, People: map[string]string{"carrier": "Lone Pine Freight"}})
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- svc.Serve(serving, listener) }()
	bootstrap, err := json.Marshal(contracts.Bootstrap{Domains: []contracts.Registration{{Domain: "logistics", URL: "http://" + listener.Addr().String()}}})
	if err != nil {
		stop()
		return nil, errors.Join(err, <-served)
	}
	server, err := app.New(ctx, app.Config{Addr: "127.0.0.1:0", DataDir: folder, Bootstrap: bootstrap, Rollout: rollout, SessionsPerMinute: 10_000, SessionBurst: 1000, Version: "bench"})
	if err != nil {
		stop()
		return nil, errors.Join(err, <-served)
	}
	s := &site{people: map[string]*client.Client{}, close: func() error {
		err := server.Stop(context.WithoutCancel(ctx))
		stop()
		return errors.Join(err, <-served)
	}}
	if err := s.begin(ctx, server); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// begin starts the server and creates the people.
func (s *site) begin(ctx context.Context, server *app.App) error {
	if err := server.Start(ctx); err != nil {
		return err
	}
	if err := server.Settled(ctx); err != nil {
		return err
	}
	key, err := os.ReadFile(server.AdminKeyFile())
	if err != nil {
		return err
	}
	admin, err := client.New(client.Config{URL: server.URL(), Key: strings.TrimSpace(string(key))})
	if err != nil {
		return err
	}
	for name, roles := range map[string][]string{
		"driver": {"requester", "logistics:driver"}, "recruiter": {"requester", "logistics:recruiter"}, "admin": {"requester", "logistics:admin"},
		"carrier": {"requester", "logistics:carrier"}, "approver": {"approver"}, "operator": {"operator"},
	} {
		key, err := admin.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: name, Roles: roles})
		if err != nil {
			return err
		}
		if s.people[name], err = client.New(client.Config{URL: server.URL(), Key: key.Text}); err != nil {
			return err
		}
	}
	return nil
}
