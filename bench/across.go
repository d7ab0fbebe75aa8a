package main

import (
	"context"
	"errors"
	"os"
	"time"
)

// across measures the delay of events to listeners of a session at the same server and at another
// one on the same database: ten thousand, half of them at each.
func across(ctx context.Context, p *page, dir string, e effort) error {
	address := os.Getenv(postgresEnv)
	if address == "" {
		p.printf("\n### Listeners at two servers\n\nNot measured: %s names no database.\n", postgresEnv)
		return nil
	}
	return withServers(ctx, dir, address, func(servers []*whole) error {
		p.printf("\n### Listeners at two servers, in another process; the runs are asked of the first\n\n")
		p.printf("| sessions | listeners | events received | who listens | delay p50 ms | p99 ms | max ms |\n|--:|--:|--:|---|--:|--:|--:|\n")
		for _, a := range []audience{{e.of(1000), 10, 1, 1}, {1, e.of(10000), 4, 1}} {
			if err := acrossRow(ctx, p, servers[1], servers[2], a, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func acrossRow(ctx context.Context, p *page, one, two *whole, a audience, e effort) error {
	h, err := one.program(ctx, a)
	if err != nil {
		return err
	}
	h.URLs = append(h.URLs, two.app.URL())
	hall, err := openHall(ctx, h)
	if err != nil {
		return err
	}
	for range a.runs {
		if err := errors.Join(one.perform(ctx, h, a.atOnce), sleep(ctx, e.time(4*time.Second))); err != nil {
			return errors.Join(err, hall.close())
		}
	}
	got, err := hall.result()
	if err != nil {
		return err
	}
	for i, who := range []string{"at the server of the run", "at the other server"} {
		delays := sample{each: got.Delays[i]}
		p.printf("| %d | %d | %d | %s | %.1f | %.1f | %.1f |\n", a.sessions, a.sessions*a.each, len(delays.each), who,
			milliseconds(delays.at(0.5)), milliseconds(delays.at(0.99)), milliseconds(delays.at(1)))
	}
	return nil
}
