package main

import (
	"context"
	"errors"
)

// stored are the numbers of finished runs at which the server is measured, always after the same
// number of concurrent runs.
var stored = []int{0, 10_000, 100_000}

// growth measures whether a run costs more when more runs are stored. The calls alone show the
// other load of the machine.
func growth(ctx context.Context, p *page, dir string, e effort) error {
	w, err := startWhole(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(growthTable(ctx, p, w, e), closing(ctx, w.close))
}

func growthTable(ctx context.Context, p *page, w *whole, e effort) error {
	one, err := w.prepare(ctx, noop, 10)
	if err != nil {
		return err
	}
	const inFlight = 64
	p.printf("\n### As runs are stored: 10 no-op reads over HTTP, %d in flight, SQLite\n\n", inFlight)
	p.printf("| stored runs | runs/s | of the calls alone | beside an empty store |\n|--:|--:|--:|--:|\n")
	var empty float64
	have := 0
	for _, want := range stored {
		want /= e.part
		if _, err := measure(ctx, max(want-have, 0), inFlight, one); err != nil {
			return err
		}
		n := e.of(4 * inFlight)
		took, err := compete(ctx, e.rounds, n, inFlight, w.direct(noop, 10), one)
		if err != nil {
			return err
		}
		have = max(want, have) + (e.rounds+1)*n
		share := took[1].perSecond() / took[0].perSecond()
		if empty == 0 {
			empty = share
		}
		p.printf("| %d | %.0f | × %.2f | × %.2f |\n", want, took[1].perSecond(), share, share/empty)
	}
	return nil
}
