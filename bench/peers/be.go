package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // for sqlite: addresses
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// be runs this program as a contender: args are the mode (runs, hold or resume), the number of
// runs, the concurrency, and arguments of the engine.
func be(engine string, args []string) error {
	runs, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	inFlight, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	engines := map[string]func(what, at, with string) (func() error, error){"manifold": askManifold, "dbos": inDBOS, "temporal": inTemporal, "restate": inRestate}
	one, err := engines[engine](args[0], args[3], args[4])
	if err != nil {
		return err
	}
	if args[0] != "runs" {
		return one()
	}
	return drive(runs, inFlight, one)
}

// askManifold runs a previewed plan over the API; an interrupted run resumes by itself.
func askManifold(what, url, keyFile string) (func() error, error) {
	if what == "resume" {
		return func() error { time.Sleep(time.Minute); return nil }, nil
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	post := func(path string, body, into any) error {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequest(http.MethodPost, url+path, bytes.NewReader(raw)) //nolint:noctx // bounded by Prefer
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", rand.Text())
		req.Header.Set("Prefer", "wait=60")
		res, err := web.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		out, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode >= http.StatusBadRequest {
			err = fmt.Errorf("%s: %s", res.Status, out)
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(out, into)
	}
	var preview struct {
		PlanHash string `json:"plan_hash"`
	}
	intent := map[string]any{"id": "i1", "domain": "gauges", "capability": "read_gauge", "parameters": map[string]any{"names": gauges(what == "hold")}, "confidence": 1}
	if err := until(30*time.Second, func() bool {
		err = post("/v1/plans", map[string]any{"goal": "read the gauges", "intents": []any{intent}}, &preview)
		return err == nil && preview.PlanHash != ""
	}); err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	return func() error {
		var session struct{ Status string }
		err := post("/v1/runs", map[string]any{"plan_hash": preview.PlanHash}, &session)
		if err == nil && session.Status != "completed" {
			err = fmt.Errorf("the session is %s", session.Status)
		}
		return err
	}, err
}

// input is the input of a workflow of the other engines.
type input struct {
	Domain string
	Hold   bool
}

// inDBOS runs a workflow of ten parallel steps; Launch resumes interrupted workflows.
func inDBOS(what, address, domain string) (func() error, error) {
	ctx, err := dbos.NewContext(context.Background(), dbos.Config{
		AppName: "peers", DatabaseURL: address, ApplicationVersion: "1", ExecutorID: "one", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	dbos.RegisterWorkflow(ctx, dbosRun)
	if err := dbos.Launch(ctx); err != nil {
		return nil, err
	}
	if what == "resume" {
		return func() error { time.Sleep(time.Minute); return nil }, nil
	}
	return func() error {
		handle, err := dbos.RunWorkflow(ctx, dbosRun, input{domain, what == "hold"})
		if err == nil {
			_, err = handle.GetResult()
		}
		return err
	}, nil
}

func dbosRun(ctx dbos.Context, in input) (int, error) {
	var pending []<-chan dbos.StepOutcome[int]
	for _, name := range gauges(in.Hold) {
		step, err := dbos.Go(ctx, func(ctx context.Context) (int, error) { return read(ctx, in.Domain, name) })
		if err != nil {
			return 0, err
		}
		pending = append(pending, step)
	}
	sum := 0
	for _, p := range pending {
		out := <-p
		if out.Err != nil {
			return 0, out.Err
		}
		sum += out.Result
	}
	return sum, nil
}

// inTemporal runs a workflow of ten parallel activities, with a worker in this process.
func inTemporal(what, address, domain string) (func() error, error) {
	c, err := client.Dial(client.Options{HostPort: address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return nil, err
	}
	w := worker.New(c, "gauges", worker.Options{})
	w.RegisterWorkflow(temporalRun)
	w.RegisterActivity(read)
	if err := w.Start(); err != nil {
		return nil, err
	}
	if what == "resume" {
		return func() error { time.Sleep(90 * time.Second); return nil }, nil
	}
	return func() error {
		run, err := c.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{TaskQueue: "gauges"}, temporalRun, input{domain, what == "hold"})
		if err != nil {
			return err
		}
		var sum int
		return run.Get(context.Background(), &sum)
	}, nil
}

func temporalRun(ctx workflow.Context, in input) (int, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Second})
	var pending []workflow.Future
	for _, name := range gauges(in.Hold) {
		pending = append(pending, workflow.ExecuteActivity(ctx, read, in.Domain, name))
	}
	sum := 0
	for _, p := range pending {
		var value int
		if err := p.Get(ctx, &value); err != nil {
			return 0, err
		}
		sum += value
	}
	return sum, nil
}
