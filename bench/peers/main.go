// Command peers compares Manifold with other durable engines: the same ten parallel reads of the
// same domain over HTTP, on the same kinds of store. See README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// contender is one engine on one kind of store.
type contender struct {
	name, settings string
	// start starts or restarts it in a folder.
	start func(ctx context.Context, dir, domain string) (*running, error)
	// lines is how many lines the author of the ten reads writes.
	lines string
}

// running is a contender that is ready. ask returns the command that makes it do runs; procs are
// its servers, whose processor time is added to that of the command.
type running struct {
	ask   func(mode string, runs, inFlight int) *exec.Cmd
	procs []*exec.Cmd
}

func (r *running) stop() {
	for _, p := range r.procs {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}

// figures is the output of a command about its runs.
type figures struct {
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	CPU       float64 `json:"cpu_ms"`
}

func main() {
	only := flag.String("only", "", "measure only contenders whose name has this text")
	runs := flag.Int("runs", 600, "runs of each measurement with 64 in flight; an eighth of them with one")
	mode := flag.String("as", "", "be a contender: dbos, temporal, manifold or direct (for this program itself)")
	flag.Parse()
	if *mode != "" {
		if err := be(*mode, flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := compare(*only, *runs); err != nil {
		log.Fatal(err)
	}
}

func compare(only string, runs int) error {
	d := newDomain()
	defer d.Close()
	fmt.Print("| engine | settings | lines | 1 in flight, p50 | 64 in flight, runs/s | CPU a run | after kill -9 |\n|---|---|--:|--:|--:|--:|--:|\n")
	var faults error
	for _, c := range contenders() {
		if !strings.Contains(c.name, only) {
			continue
		}
		if err := c.measure(d, runs); err != nil {
			faults = errors.Join(faults, fmt.Errorf("%s: %w", c.name, err))
			fmt.Printf("| %s | not measured: %v |\n", c.name, strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	return faults
}

func (c *contender) measure(d *domain, runs int) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := c.start(context.Background(), dir, d.URL)
	defer func() {
		if r != nil {
			r.stop()
		}
	}()
	if err != nil {
		return err
	}
	one, err := r.runs(runs/8, 1)
	if err != nil {
		return err
	}
	many, err := r.runs(runs, 64)
	if err != nil {
		return err
	}
	again, err := c.recovery(d, r, dir)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %s | %s | %.1f ms | %.0f | %.1f ms | %s |\n", c.name, c.settings, c.lines, one.P50, many.PerSecond, many.CPU, again)
	return nil
}

// runs makes n runs; the first tenth is a warm-up within the command.
func (r *running) runs(n, inFlight int) (figures, error) {
	before := cpuOf(r.procs)
	cmd := r.ask("runs", n, inFlight)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return figures{}, fmt.Errorf("%d runs with %d in flight: %w", n, inFlight, err)
	}
	var f figures
	if err := json.Unmarshal(out[strings.LastIndexByte(strings.TrimSpace(string(out)), '\n')+1:], &f); err != nil {
		return f, fmt.Errorf("%q: %w", out, err)
	}
	f.CPU += (cpuOf(r.procs) - before) / float64(n+n/10)
	return f, nil
}

// recovery kills all processes of a contender while its run waits for the domain, restarts it, and
// returns the time from there until the call is repeated.
func (c *contender) recovery(d *domain, r *running, dir string) (string, error) {
	const gauge = "hold"
	delete(d.held, gauge)
	asking := r.ask("hold", 1, 1)
	asking.Stderr = os.Stderr
	if err := asking.Start(); err != nil {
		return "", err
	}
	if err := until(30*time.Second, func() bool { return d.calls(gauge, false) == 1 }); err != nil {
		return "", err
	}
	time.Sleep(300 * time.Millisecond) // the other nine are stored
	_ = asking.Process.Kill()
	_ = asking.Wait()
	r.stop()
	d.CloseClientConnections()
	begun := time.Now()
	again, err := c.start(context.Background(), dir, d.URL)
	if again != nil {
		*r = *again
	}
	if err != nil {
		return "", err
	}
	asking = r.ask("resume", 1, 1)
	asking.Stderr = os.Stderr
	if err := asking.Start(); err != nil {
		return "", err
	}
	defer func() { _ = asking.Process.Kill(); _ = asking.Wait() }()
	if err := until(90*time.Second, func() bool { return d.calls(gauge, false) == 2 }); err != nil {
		return "not within 90 s", nil //nolint:nilerr // that is the figure
	}
	return fmt.Sprintf("%.1f s", d.held[gauge][1].Sub(begun).Seconds()), nil
}

func until(bound time.Duration, is func() bool) error {
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return nil
		}
	}
	return errors.New("it did not come to be in time")
}

// cpuOf returns the processor time of processes in milliseconds.
func cpuOf(procs []*exec.Cmd) float64 {
	var ticks float64
	for _, p := range procs {
		raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Process.Pid), "stat"))
		if err != nil {
			continue
		}
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		user, _ := strconv.ParseFloat(f[11], 64)
		system, _ := strconv.ParseFloat(f[12], 64)
		ticks += user + system
	}
	return ticks * 10
}

// own returns the processor time of this process in milliseconds.
func own() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}
