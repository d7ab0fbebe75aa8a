// Command serve starts the server and the domains of a shipped bootstrap file, each as a process of
// its own, as in production. Workday and Flowise are served by sandboxes unless the environment
// names real ones.
//
// It is a development tool: it supervises nothing, and ends when one process ends.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// stack holds the processes of one invocation.
type stack struct {
	bin, data, addr, bootstrap string

	getenv func(string) string
	out    *sync.Mutex // guards w
	w      io.Writer
	group  *errgroup.Group
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	s := stack{getenv: getenv, out: &sync.Mutex{}, w: out}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.StringVar(&s.bin, "bin", "bin", "folder of the programs that `make serve` builds")
	flags.StringVar(&s.data, "data", dataDir(getenv), "folder of everything that is kept")
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address of the server")
	flags.StringVar(&s.bootstrap, "bootstrap", "domains.bootstrap.json", "file of the domains; those that this repository ships are started where it says they are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	body, err := os.ReadFile(s.bootstrap)
	if err != nil {
		return err
	}
	var b contracts.Bootstrap
	if err := contracts.Parse(contracts.SchemaBootstrap, body, &b); err != nil {
		return fmt.Errorf("%s: %w", s.bootstrap, err)
	}
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return err
	}
	s.group, ctx = errgroup.WithContext(ctx)
	s.group.Go(func() error { return s.all(ctx, b.Domains) })
	return s.group.Wait()
}

func dataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "manifold-serve")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", "manifold-serve")
}

// all starts the domains, waits until they answer, and starts the server.
func (s *stack) all(ctx context.Context, domains []contracts.Registration) error {
	for _, d := range domains {
		at, err := url.Parse(d.URL)
		if err != nil {
			return fmt.Errorf("domain %s: %w", d.Domain, err)
		}
		started, err := s.domain(ctx, d.Domain, at.Host)
		if err != nil {
			return fmt.Errorf("domain %s: %w", d.Domain, err)
		}
		if !started {
			s.say(d.Domain, "is not shipped here; the server looks for it at "+d.URL)
			continue
		}
		if err := healthy(ctx, d.URL); err != nil {
			return fmt.Errorf("domain %s: %w", d.Domain, err)
		}
	}
	return s.start(ctx, "manifold", nil, nil, "serve", "--addr", s.addr, "--data", filepath.Join(s.data, "server"), "--bootstrap", s.bootstrap)
}

// domain starts a shipped domain, with the sandbox of its system if it needs one.
func (s *stack) domain(ctx context.Context, name, addr string) (shipped bool, err error) {
	keys := filepath.Join(s.data, name+".keys.db")
	switch name {
	case "finance":
		return true, s.start(ctx, "example-domain", nil, nil, name, "-addr", addr)
	case "communication":
		return true, s.start(ctx, "example-domain", nil, nil, name, "-addr", addr, "-data", filepath.Join(s.data, name))
	case "workday":
		env, err := s.workday(ctx)
		if err != nil {
			return true, err
		}
		return true, s.start(ctx, "workday-domain", nil, env, "-listen", addr, "-keys", keys)
	case "flowise":
		env, err := s.flowise(ctx)
		if err != nil {
			return true, err
		}
		return true, s.start(ctx, "flowise-domain", nil, env, "-listen", addr, "-keys", keys, "-data", filepath.Join(s.data, name+".db"))
	}
	return false, nil
}

// workday returns the environment of the Workday domain: that of a sandbox tenant, unless WORKDAY_URL
// names a real one.
func (s *stack) workday(ctx context.Context) ([]string, error) {
	if s.getenv("WORKDAY_URL") != "" {
		return nil, nil
	}
	var tenant struct {
		URL         string `json:"url"`
		Credentials struct {
			Tenant       string `json:"tenant"`
			ClientID     string `json:"client_id"`
			ClientSecret string `json:"client_secret"`
			RefreshToken string `json:"refresh_token"`
		} `json:"credentials"`
	}
	if err := s.sandbox(ctx, &tenant, "workday-sandbox", "-addr", "127.0.0.1:0", "-keep-refresh-token", "-quiet"); err != nil {
		return nil, err
	}
	pages, err := loginAddr(ctx)
	if err != nil {
		return nil, err
	}
	c := tenant.Credentials
	return []string{
		"WORKDAY_LOGINS=" + filepath.Join(s.data, "workday.logins"), "WORKDAY_LOGIN_LISTEN=" + pages, "WORKDAY_LOGIN_URL=http://" + pages,
		"WORKDAY_URL=" + tenant.URL, "WORKDAY_TENANT=" + c.Tenant, "WORKDAY_CLIENT_ID=" + c.ClientID, "WORKDAY_ALLOW_LOOPBACK=true",
		"WORKDAY_CLIENT_SECRET=" + c.ClientSecret, "WORKDAY_REFRESH_TOKEN=" + c.RefreshToken, "WORKDAY_ALL_ROLES=workday:hr,operator",
	}, nil
}

// flowise returns the environment of the Flowise domain: that of an in-memory Flowise, unless
// FLOWISE_URL or FLOWISE_INSTANCES name real ones.
func (s *stack) flowise(ctx context.Context) ([]string, error) {
	if s.getenv("FLOWISE_URL") != "" || s.getenv("FLOWISE_INSTANCES") != "" {
		return nil, nil
	}
	var server struct {
		Endpoint string `json:"endpoint"`
		APIKey   string `json:"api_key"`
	}
	if err := s.sandbox(ctx, &server, "flowise-sandbox", "-addr", "127.0.0.1:0", "-quiet"); err != nil {
		return nil, err
	}
	return []string{"FLOWISE_URL=" + server.Endpoint, "FLOWISE_KEY=" + server.APIKey}, nil
}

// loginAddr returns a free address for the login pages of the sandbox tenant.
func loginAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// sandbox starts a sandbox and decodes its first output, which it prints once it serves.
func (s *stack) sandbox(ctx context.Context, into any, name string, args ...string) error {
	r, w := io.Pipe()
	if err := s.start(ctx, name, w, nil, args...); err != nil {
		return err
	}
	if err := json.NewDecoder(r).Decode(into); err != nil {
		return fmt.Errorf("%s does not start: %w", name, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // ends with the process, which closes the pipe
	return nil
}

// start runs a program until ctx ends. If it ends earlier, the whole stack ends.
func (s *stack) start(ctx context.Context, name string, stdout *io.PipeWriter, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...) //nolint:gosec // a program of the folder that the developer names
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	label := name
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		label += " " + args[0]
	}
	lines, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.group.Go(func() error {
		for scan := bufio.NewScanner(lines); scan.Scan(); {
			s.say(label, scan.Text())
		}
		return nil
	})
	s.group.Go(func() error {
		err := cmd.Wait()
		_ = w.Close()
		if stdout != nil {
			_ = stdout.CloseWithError(fmt.Errorf("it ended: %w", err))
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to end
		}
		return fmt.Errorf("%s ended: %w", name, err)
	})
	return nil
}

func (s *stack) say(name, line string) {
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = fmt.Fprintf(s.w, "%-28s %s\n", name, line) // output errors are ignored
}

// healthy waits until a domain answers.
func healthy(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", nil)
		if err != nil {
			return err
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", base, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
