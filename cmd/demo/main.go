// Command demo starts everything in one process, with sandboxes: a Workday tenant and a Flowise with
// their domains, three example domains, and the server with API keys for a requester, an approver,
// and each role of the logistics example. It needs only Go, and removes its data at the end unless
// it is given a folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	app.GrowHeap(os.Getenv)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, nil)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

type options struct {
	addr    string
	data    string
	verbose bool
	hears   string
	model   string
	mind    string
	keep    int
	watch   time.Duration
	metrics string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "address to serve on; a free port is taken if it is in use")
	flags.StringVar(&o.data, "data", "", "folder to keep everything in (default: a temporary one, removed at the end)")
	flags.StringVar(&o.hears, "embeddings", "auto", "what tells the meaning of texts: auto (the sentence encoder of this machine, if it is installed), local or off")
	flags.StringVar(&o.model, "model", "", "a model to read what words alone do not tell: scripted (it follows a script and costs nothing) or none")
	flags.StringVar(&o.mind, "model-url", "", "address of a server with OpenAI's format that has the model, such as http://127.0.0.1:11434/v1; -model is then its name there")
	flags.IntVar(&o.keep, "english-examples", 0, "keep only so many English examples of each capability, and no other language; 0 keeps all")
	flags.DurationVar(&o.watch, "flowise-watch", 10*time.Second, "how often the Flowise in memory is looked at for edits that were made past its domain")
	flags.StringVar(&o.metrics, "metrics-addr", "", "serve metrics for Prometheus at /metrics of this address, such as 127.0.0.1:9464")
	flags.BoolVar(&o.verbose, "verbose", false, "write the log of all parts to stderr")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil && o.watch <= 0 {
		err = fmt.Errorf("--flowise-watch %s: it must be more than nothing", o.watch)
	}
	return o, err
}

// run serves until ctx ends. ready, if not nil, is called once everything answers.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, ready func(stage)) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.data == "" {
		if o.data, err = os.MkdirTemp("", "manifold-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.data)) }() //nolint:gosec // the folder that was made above
	}
	if o.data, err = filepath.Abs(o.data); err != nil {
		return err
	}
	level := slog.LevelError
	if o.verbose {
		level = slog.LevelInfo
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	world, err := startWorld(ctx, o, logger)
	if err != nil {
		return err
	}
	// Stop what was started, also if ctx has ended already.
	defer func() { err = errors.Join(err, world.stop()) }()
	return serve(ctx, o, world, logger, stdout, ready)
}

func serve(ctx context.Context, o options, w *world, logger *slog.Logger, stdout io.Writer, ready func(stage)) (err error) {
	model, stopModel, err := mind(ctx, o.model, o.mind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopModel()) }()
	server, err := startServer(ctx, o, model, w.bootstrap(), logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	keys, err := peopleKeys(ctx, server, o.data)
	if err != nil {
		return err
	}
	links, err := signInLinks(ctx, server.URL(), keys)
	if err != nil {
		return err
	}
	s := stage{
		RitaLink: links[0], OttoLink: links[1], ManagerLogin: w.managerLogin,
		URL: server.URL(), AdminKeyFile: server.AdminKeyFile(), Keys: keys,
		Monday: monday(time.Now()), Hears: server.MatcherSummary(), Thinks: server.ModelSummary(), Model: o.model,
	}
	if err := s.print(stdout); err != nil {
		return err
	}
	if ready != nil {
		ready(s)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Failed():
		return err
	}
}

// startServer uses a free port if the requested one is in use: port 8080 often is.
func startServer(ctx context.Context, o options, model app.LanguageModel, bootstrap []byte, logger *slog.Logger) (*app.App, error) {
	addr, err := freeAddr(ctx, o.addr)
	if err != nil {
		return nil, err
	}
	var models local.ModelCache // shared by all demos of this user: the first start trains them
	if dir := app.UserModelDir(); dir != "" {
		models = app.ModelDir(dir, logger)
	}
	server, err := app.New(ctx, app.Config{
		Models: models,
		Addr:   addr, DataDir: filepath.Join(o.data, "server"), Bootstrap: bootstrap, Version: "demo", Logger: logger,
		Embeddings: app.Embeddings{From: o.hears}, Mind: model, Telemetry: app.Telemetry{MetricsAddr: o.metrics},
	})
	if err != nil {
		return nil, err
	}
	if err := server.Start(ctx); err != nil {
		return nil, errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	settle, cancel := context.WithTimeout(ctx, 10*time.Minute) // takes seconds, except on a busy machine
	defer cancel()
	if err := server.Settled(settle); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for the domains: %w", err), server.Stop(context.WithoutCancel(ctx)))
	}
	return server, nil
}

// monday returns a Monday two to three weeks ahead, whose days are free.
func monday(now time.Time) string {
	day := now.AddDate(0, 0, 14)
	for day.Weekday() != time.Monday {
		day = day.AddDate(0, 0, 1)
	}
	return day.Format(time.DateOnly)
}
