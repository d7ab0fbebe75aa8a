package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// sample has the durations of many equal operations, their total time, and the processor time of
// this process in that time.
type sample struct {
	each       []time.Duration
	total, cpu time.Duration
}

// cpuEach returns the processor time of one operation. It hardly depends on other load of the
// machine.
func (s *sample) cpuEach() time.Duration { return s.cpu / time.Duration(max(len(s.each), 1)) }

// at returns a quantile, 0.5 for the median.
func (s *sample) at(q float64) time.Duration {
	if len(s.each) == 0 {
		return 0
	}
	slices.Sort(s.each)
	return s.each[min(int(q*float64(len(s.each))), len(s.each)-1)]
}

func (s *sample) perSecond() float64 {
	if s.total <= 0 {
		return 0
	}
	return float64(len(s.each)) / s.total.Seconds()
}

// add adds another round of the same operation.
func (s *sample) add(round sample) {
	s.each = append(s.each, round.each...)
	s.total += round.total
	s.cpu += round.cpu
}

// note adds one operation.
func (s *sample) note(took time.Duration) {
	s.each = append(s.each, took)
	s.total += took
}

// measure runs the operation n times, inFlight at once, and waits for all.
func measure(ctx context.Context, n, inFlight int, operation func(context.Context) error) (sample, error) {
	var mu sync.Mutex // guards out
	var out sample
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	before, err := used()
	if err != nil {
		return out, err
	}
	began := time.Now()
	for range min(inFlight, n) {
		group.Go(func() error {
			for next.Add(1) <= int64(n) {
				start := time.Now()
				if err := operation(ctx); err != nil {
					return err
				}
				took := time.Since(start)
				mu.Lock()
				out.each = append(out.each, took)
				mu.Unlock()
			}
			return nil
		})
	}
	err = group.Wait()
	out.total = time.Since(began)
	after, failed := used()
	out.cpu = after - before
	return out, errors.Join(err, failed)
}

// compete measures several operations in rounds, a few of each in turn, so that other load of the
// machine affects all alike. The first round is a warm-up and does not count.
func compete(ctx context.Context, rounds, n, inFlight int, operations ...func(context.Context) error) ([]sample, error) {
	out := make([]sample, len(operations))
	for round := range rounds + 1 {
		for i, operation := range operations {
			took, err := measure(ctx, n, inFlight, operation)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				out[i].add(took)
			}
		}
	}
	return out, nil
}
