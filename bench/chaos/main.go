// Command chaos runs several servers on one PostgreSQL while people request, approve and settle
// unknown outcomes. Meanwhile it kills and freezes servers, restarts the database, fills its disk
// and sets its clock, all by a seed. Then it checks, by the domain's records and the ledgers, what
// was lost, stuck, done twice or done without approval.
//
//	go run ./bench/chaos -runs 200 -for 3m
//
// It needs the programs of a PostgreSQL server on this machine. The disk is filled only as root on
// Linux, and the database's clock is set only if there is a C compiler.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// plan configures a chaos run.
type plan struct {
	seed     uint64
	runs     int
	people   int
	replicas int
	lasts    time.Duration
	every    time.Duration
	dir      string
}

func main() {
	var p plan
	flag.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()), "of everything that is left to chance; by default the time")
	flag.IntVar(&p.runs, "runs", 200, "how many runs are asked for")
	flag.IntVar(&p.people, "people", 16, "how many runs are under way at once")
	flag.IntVar(&p.replicas, "replicas", 3, "how many servers there are")
	flag.DurationVar(&p.lasts, "for", 10*time.Minute, "how long all of it may take; what has not ended then is stuck")
	flag.DurationVar(&p.every, "every", 3*time.Second, "how often something is broken, on average")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := p.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// run executes the plan in a new folder, which is kept after a violation.
func (p plan) run(ctx context.Context) (err error) {
	if p.dir, err = os.MkdirTemp("", "chaos-"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nseed %d; the logs are in %s", err, p.seed, p.dir)
			return
		}
		err = os.RemoveAll(p.dir)
	}()
	ctx, cancel := context.WithTimeout(ctx, p.lasts)
	defer cancel()
	s, err := newSite(ctx, p)
	if err != nil {
		return errors.Join(err, s.close())
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.play(ctx)
}
