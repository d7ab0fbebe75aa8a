// Command scripted-model serves the API of a model from a script or a recording, so that the product
// can be tried without a paid model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/internal/model/scripted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scripted-model:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("scripted-model", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to serve on")
	script := flags.String("script", "", "JSON file of rules")
	cases := flags.String("cases", "", "data set whose requests were recorded; with --recorded and --model")
	recorded := flags.String("recorded", "", "file of what models answered to the requests of --cases")
	model := flags.String("model", "", "whose recorded answers are given")
	if err := flags.Parse(args); err != nil {
		return err
	}
	answers, err := answerer(*script, *cases, *recorded, *model)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	address := listener.Addr()
	if _, err := fmt.Fprintf(out, "a scripted model answers at http://%s\n  REASONING_ENGINE=openai REASONING_MODEL=scripted REASONING_BASE_URL=http://%s/v1\n  REASONING_ENGINE=anthropic REASONING_MODEL=scripted REASONING_API_KEY=any REASONING_BASE_URL=http://%s\n", address, address, address); err != nil {
		return err
	}
	return serve(ctx, listener, scripted.New(answers))
}

func answerer(script, cases, recorded, model string) (scripted.Answerer, error) {
	var base scripted.Answerer = scripted.Nothing{}
	if recorded != "" {
		if cases == "" || model == "" {
			return nil, errors.New("--recorded needs --cases and --model")
		}
		recording, err := scripted.ReadRecording(cases, recorded, model)
		if err != nil {
			return nil, err
		}
		base = recording
	}
	if script == "" {
		return base, nil
	}
	rules, err := scripted.ReadScript(script)
	if err != nil {
		return nil, err
	}
	rules.Else = base
	return rules, nil
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // answers in progress are scripted and need no grace period
	defer stop()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
