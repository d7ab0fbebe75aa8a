package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// audience has the number of sessions, of listeners to each, of runs in each, and of concurrent
// runs.
type audience struct{ sessions, each, runs, atOnce int }

// listeners measures what a thousand open streams cost the server, and the delay of events to them.
// The listeners are in a separate process.
func listeners(ctx context.Context, p *page, dir string, e effort) error {
	w, err := startWhole(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(listenerTable(ctx, p, w, e), closing(ctx, w.close))
}

func listenerTable(ctx context.Context, p *page, w *whole, e effort) error {
	p.printf("\n### Listeners to `/v1/sessions/{id}/stream`, in another process\n\n")
	p.printf("| sessions | listeners | KiB of the server's memory for each | processors while idle | events received | delay p50 ms | p99 ms | max ms |\n")
	p.printf("|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, a := range []audience{{1, e.of(1000), 10, 1}, {e.of(50), e.of(20), 4, 4}, {e.of(1000), 1, 1, 4}} {
		r, err := w.attend(ctx, a, e)
		if err != nil {
			return err
		}
		delays := sample{each: r.heard.Delays[0]}
		p.printf("| %d | %d | %.1f | %.3f | %d | %.1f | %.1f | %.1f |\n", a.sessions, a.sessions*a.each,
			float64(r.memory)/float64(a.sessions*a.each)/1024, r.idle, len(delays.each),
			milliseconds(delays.at(0.5)), milliseconds(delays.at(0.99)), milliseconds(delays.at(1)))
	}
	return nil
}

type attended struct {
	memory int64
	idle   float64 // processors
	heard  hearing
}

// attend runs listeners of an audience during runs in its sessions.
func (w *whole) attend(ctx context.Context, a audience, e effort) (attended, error) {
	h, err := w.program(ctx, a)
	if err != nil {
		return attended{}, err
	}
	before := memory()
	hall, err := openHall(ctx, h)
	if err != nil {
		return attended{}, err
	}
	r := attended{memory: memory() - before}
	if r.idle, err = idle(ctx, e.time(5*time.Second)); err != nil {
		return r, errors.Join(err, hall.close())
	}
	for range a.runs {
		if err := errors.Join(w.perform(ctx, h, a.atOnce), sleep(ctx, e.time(pause))); err != nil {
			return r, errors.Join(err, hall.close())
		}
	}
	r.heard, err = hall.result()
	return r, err
}

// pause is the time between two runs of a session, so that listeners do not read the first while
// the second is measured.
const pause = 500 * time.Millisecond

// perform makes one run in each session.
func (w *whole) perform(ctx context.Context, h heard, atOnce int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, session := range h.Sessions {
		group.Go(func() error { return w.runIn(ctx, session.ID) })
	}
	return group.Wait()
}

// program creates the sessions, and returns where each listener starts.
func (w *whole) program(ctx context.Context, a audience) (heard, error) {
	h := heard{URLs: []string{w.app.URL()}, Key: w.key, Each: a.each, Runs: a.runs}
	for range a.sessions {
		r, err := w.client.StartSession(ctx, contracts.StartSession{Message: "check the gauge g-01"}, client.Opt{Wait: 30 * time.Second})
		if err != nil {
			return h, err
		}
		events, err := w.client.Events(ctx, r.SessionID, 0, 1000)
		if err != nil {
			return h, err
		}
		if len(events) == 0 || events[len(events)-1].Type != contracts.EventDone {
			return h, fmt.Errorf("session %s has not ended", r.SessionID)
		}
		h.Sessions = append(h.Sessions, place{r.SessionID, events[len(events)-1].Seq})
	}
	return h, nil
}

func (w *whole) runIn(ctx context.Context, session string) error {
	r, err := w.client.Say(ctx, session, "check the gauge g-02", client.Opt{Wait: 30 * time.Second})
	if err == nil && r.Status != contracts.SessionCompleted {
		err = fmt.Errorf("session %s is %s", session, r.Status)
	}
	return err
}

// memory returns the size of the server's heap and stacks after a collection.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse) //nolint:gosec // far below the limit
}

// idle returns how many processors the server uses without requests.
func idle(ctx context.Context, long time.Duration) (float64, error) {
	before, err := used()
	if err == nil {
		err = sleep(ctx, long)
	}
	if err != nil {
		return 0, err
	}
	after, err := used()
	return float64(after-before) / float64(long), err
}

func used() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// hallEnv makes the program a process of listeners.
const hallEnv = "MANIFOLD_BENCH_LISTENERS"

// place is where a listener starts.
type place struct {
	ID   string
	Last int64
}

// heard is the configuration of the process of listeners.
type heard struct {
	// URLs are the servers; the listeners of a session use them in turn.
	URLs       []string
	Key        string
	Sessions   []place
	Each, Runs int
}

// hearing is its result: the delays by server.
type hearing struct{ Delays [][]time.Duration }

// hall is the process of listeners as seen by its parent.
type hall struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

// openHall starts the process, and waits until all listeners are connected.
func openHall(ctx context.Context, h heard) (*hall, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // this program
	cmd.Env, cmd.Stderr = append(os.Environ(), hallEnv+"=1"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all := &hall{cmd: cmd, out: bufio.NewReader(out), in: in}
	if err := json.NewEncoder(in).Encode(h); err != nil {
		return nil, errors.Join(err, all.close())
	}
	if _, err := all.out.ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("the listeners did not connect: %w", err), all.close())
	}
	return all, nil
}

// result waits until all listeners have received everything, and returns their delays.
func (h *hall) result() (hearing, error) {
	var out hearing
	err := json.NewDecoder(h.out).Decode(&out)
	return out, errors.Join(err, h.close())
}

func (h *hall) close() error { return errors.Join(h.in.Close(), h.cmd.Wait()) }
