package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/internal/app"
)

// observed measures the cost of telemetry: the processor time of a server for a run of ten reads
// with more and more telemetry, and without, in turn. Each server is a separate process, so that
// clients, the domain and the collector, which discards its input, do not count.
func observed(ctx context.Context, p *page, dir string, e effort) (err error) {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer collector.Close()
	// Only the domain of clients is used.
	clients, serving := newWhole(), context.WithoutCancel(ctx)
	serving, clients.stop = context.WithCancel(serving)
	defer func() { err = errors.Join(err, closing(ctx, clients.close)) }()
	if err := clients.serveDomain(serving); err != nil {
		return err
	}
	var servers []*apart
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.close())
		}
	}()
	for i, told := range tellings() {
		env := []string{apartEnv + "=1"}
		if told.env != nil {
			env = append(env, append(told.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)...)
		}
		s, err := startApart(ctx, env, apartConfig{Dir: filepath.Join(dir, strconv.Itoa(i)), Domain: clients.domain, Metrics: told.env != nil}, clients.http)
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	return observedTable(ctx, p, servers, e)
}

// telling is a level of telemetry, set by the variables of OpenTelemetry.
type telling struct {
	name string
	env  []string // nil means no telemetry
}

func tellings() []telling {
	return []telling{
		{"nothing", nil},
		{"metrics", []string{"OTEL_TRACES_EXPORTER=none"}},
		{"metrics and one trace of ten, the default", []string{}},
		{"metrics and all traces", []string{"OTEL_TRACES_SAMPLER=parentbased_always_on"}},
	}
}

// batchTime is how long spans may wait before they are sent.
const batchTime = 6 * time.Second

// observedTable attributes to a round also the work of a server until its next round, because spans
// are sent some time after their runs.
func observedTable(ctx context.Context, p *page, servers []*apart, e effort) error {
	n := e.of(256)
	took := make([][]float64, len(servers)) // processor time of a run, in ms, by round
	last := make([]time.Duration, len(servers))
	for round := range e.rounds + 2 {
		if round == e.rounds+1 {
			if err := sleep(ctx, e.time(batchTime)); err != nil {
				return err
			}
		}
		for i, s := range servers {
			used, err := s.used()
			if err != nil {
				return err
			}
			if round > 1 {
				took[i] = append(took[i], float64(used-last[i])/float64(n)/float64(time.Millisecond))
			}
			if last[i] = used; round > e.rounds {
				continue
			}
			if _, err := measure(ctx, n, 16, s.op); err != nil {
				return err
			}
		}
	}
	p.printf("\n### Telemetry: processor time of the server for a run of 10 reads, middle of %d rounds of %d runs in turns\n\n| told | processor time | more |\n|---|--:|--:|\n", e.rounds, n)
	off := middle(took[0])
	for i, told := range tellings() {
		p.printf("| %s | %.2f ms | %+.1f %% |\n", told.name, middle(took[i]), 100*(middle(took[i])/off-1))
	}
	return nil
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// apartEnv makes the program a server that is measured from outside.
const apartEnv = "MANIFOLD_BENCH_SERVER"

// apartConfig is the configuration of the process of a server.
type apartConfig struct {
	Dir, Domain string
	Metrics     bool
}

// apartReady is its message when it serves.
type apartReady struct{ URL, Key string }

// serveApart is the process of a server. For each input line it writes its processor time; it ends
// at the end of the input.
func serveApart(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	lines := bufio.NewScanner(in)
	var cfg apartConfig
	lines.Scan()
	if err := json.Unmarshal(lines.Bytes(), &cfg); err != nil {
		return err
	}
	w := newWhole()
	w.domain = cfg.Domain
	if cfg.Metrics {
		w.telemetry = app.Telemetry{Getenv: os.Getenv, MetricsAddr: "127.0.0.1:0"}
	}
	defer func() { err = errors.Join(err, closing(ctx, w.close)) }()
	if err := w.start(ctx, cfg.Dir); err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(apartReady{w.app.URL(), w.key}); err != nil {
		return err
	}
	for lines.Scan() {
		took, err := used()
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(took); err != nil {
			return err
		}
	}
	return lines.Err()
}

// apart is a server in a separate process, as seen by its parent; op makes it run ten reads.
type apart struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	op  func(context.Context) error
}

func startApart(ctx context.Context, env []string, cfg apartConfig, http *http.Client) (*apart, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // this program
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	out, outErr := cmd.StdoutPipe()
	in, inErr := cmd.StdinPipe()
	if err := cmp.Or(outErr, inErr); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &apart{cmd: cmd, in: in, out: json.NewDecoder(out)}
	if err := s.connect(ctx, cfg, http); err != nil {
		return nil, errors.Join(fmt.Errorf("a server did not start: %w", err), s.close())
	}
	return s, nil
}

func (s *apart) connect(ctx context.Context, cfg apartConfig, http *http.Client) error {
	if err := json.NewEncoder(s.in).Encode(cfg); err != nil {
		return err
	}
	var ready apartReady
	err := s.out.Decode(&ready)
	if err != nil {
		return err
	}
	w := newWhole()
	if w.client, err = client.New(client.Config{URL: ready.URL, Key: ready.Key, HTTP: http}); err != nil {
		return err
	}
	s.op, err = w.prepare(ctx, noop, 10)
	return err
}

// used returns the processor time of the server so far.
func (s *apart) used() (took time.Duration, err error) {
	if _, err := io.WriteString(s.in, "used\n"); err != nil {
		return 0, err
	}
	return took, s.out.Decode(&took)
}

func (s *apart) close() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }
