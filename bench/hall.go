package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
)

// hallTime limits the life of a process of listeners.
const hallTime = 5 * time.Minute

// listenAll is the process of listeners. It connects them all, reports that, and then reports the
// delay of each event from its timestamp to each listener.
func listenAll(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, hallTime)
	defer cancel()
	var h heard
	if err := json.NewDecoder(in).Decode(&h); err != nil {
		return err
	}
	var mu sync.Mutex // guards delays
	delays := make([][]time.Duration, len(h.URLs))
	var ready sync.WaitGroup
	ready.Add(len(h.Sessions) * h.Each)
	group, listening := errgroup.WithContext(ctx)
	for _, session := range h.Sessions {
		for i := range h.Each {
			server := i % len(h.URLs)
			group.Go(func() error {
				mine, err := h.listen(listening, h.URLs[server], session, ready.Done)
				mu.Lock()
				defer mu.Unlock()
				delays[server] = append(delays[server], mine...)
				return err
			})
		}
	}
	go func() {
		ready.Wait()
		_, _ = fmt.Fprintln(out, "ready") // a failure is noticed by the reader
	}()
	if err := group.Wait(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(hearing{delays})
}

// listen reads the events of one session until its runs have ended.
func (h heard) listen(ctx context.Context, url string, at place, ready func()) ([]time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/v1/sessions/%s/stream?after=%d", url, at.ID, at.Last), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+h.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the stream was refused: %s", res.Status)
	}
	ready()
	var delays []time.Duration
	lines := bufio.NewScanner(res.Body)
	for left := h.Runs; left > 0 && lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		now := time.Now()
		var e contracts.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return delays, err
		}
		delays = append(delays, now.Sub(e.At))
		if at.Last++; e.Seq != at.Last {
			return delays, fmt.Errorf("event %d came where %d was due", e.Seq, at.Last)
		}
		if e.Type == contracts.EventDone {
			left--
		}
	}
	return delays, lines.Err()
}
