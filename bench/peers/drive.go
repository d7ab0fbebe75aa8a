package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

var web = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 700}}

// gauges returns the ten gauges of one run; in the runs that are killed, the last one is held.
func gauges(hold bool) []string {
	names := make([]string, 10)
	for i := range names {
		names[i] = fmt.Sprintf("g-%02d", i+1)
	}
	if hold {
		names[9] = "hold"
	}
	return names
}

// read calls the domain once.
func read(ctx context.Context, domain, name string) (int, error) {
	body := `{"capability":"read_gauge","parameters":{"name":"` + name + `"}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, domain+"/execute", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := web.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var result struct {
		Facts struct{ Value int }
	}
	return result.Facts.Value, json.NewDecoder(res.Body).Decode(&result)
}

// drive makes runs, inFlight at a time, and prints their figures.
func drive(runs, inFlight int, one func() error) error {
	if err := several(runs/10, inFlight, func(time.Duration) {}, one); err != nil {
		return err
	}
	var mu sync.Mutex
	var took []time.Duration
	cpu, begun := own(), time.Now()
	err := several(runs, inFlight, func(d time.Duration) { mu.Lock(); took = append(took, d); mu.Unlock() }, one)
	if err != nil {
		return err
	}
	all := time.Since(begun)
	slices.Sort(took)
	ms := func(p int) float64 { return float64(took[len(took)*p/100].Microseconds()) / 1000 }
	return json.NewEncoder(os.Stdout).Encode(figures{
		PerSecond: float64(runs) / all.Seconds(), P50: ms(50), P99: ms(99), CPU: (own() - cpu) / float64(runs),
	})
}

func several(runs, inFlight int, took func(time.Duration), one func() error) error {
	var wg sync.WaitGroup
	next := make(chan struct{}, runs)
	for range runs {
		next <- struct{}{}
	}
	close(next)
	faults := make(chan error, inFlight)
	for range inFlight {
		wg.Go(func() {
			for range next {
				begun := time.Now()
				if err := one(); err != nil {
					faults <- err
					return
				}
				took(time.Since(begun))
			}
		})
	}
	wg.Wait()
	close(faults)
	return <-faults
}
