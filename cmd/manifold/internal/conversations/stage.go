package conversations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// stage is the server under test with its keys.
type stage struct {
	url string
	// keys are API keys by name, including requester and approver.
	keys map[string]string
	// admin creates a key for the person of each conversation; without it, the requester's key is
	// used for all of them.
	admin  *client.Client
	people atomic.Int64
	stop   func() error
}

// Names of keys that every stage needs.
const (
	keyRequester = "requester"
	keyApprover  = "approver"
)

func (s *stage) client(key string) (*client.Client, error) {
	return client.New(client.Config{URL: s.url, Key: key, Timeout: 90 * time.Second, Retries: 8, UserAgent: "manifold-eval"})
}

func (s *stage) named(name string) (*client.Client, error) {
	key, ok := s.keys[name]
	if !ok {
		return nil, contracts.Errorf(contracts.CodeInvalid, "there is no key %q; name a file of keys with --keys", name)
	}
	return s.client(key)
}

// person returns a client for the person of a conversation.
func (s *stage) person(ctx context.Context, as string, roles []string) (*client.Client, error) {
	if as != "" {
		return s.named(as)
	}
	if s.admin == nil {
		return s.named(keyRequester)
	}
	n := s.people.Add(1)
	spec := contracts.KeySpec{Name: fmt.Sprintf("eval %d", n), Kind: "user", Principal: fmt.Sprintf("asker%d", n), Roles: roles}
	made, err := patient(ctx, func() (contracts.KeyCreated, error) { return s.admin.CreateKey(ctx, spec) })
	if err != nil {
		return nil, fmt.Errorf("key of a person: %w", err)
	}
	return s.client(made.Text)
}

// join registers a domain service, NAME=URL, and waits until it serves.
func (s *stage) join(ctx context.Context, named string) error {
	name, url, ok := strings.Cut(named, "=")
	if !ok {
		return contracts.Errorf(contracts.CodeInvalid, "a domain is NAME=URL, not %q", named)
	}
	if _, err := s.admin.RegisterDomain(ctx, contracts.Registration{Domain: name, URL: url}); err != nil {
		return err
	}
	for range 600 {
		if got, err := s.admin.Capabilities(ctx, name); err != nil || len(got) > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return contracts.Errorf(contracts.CodeInternal, "its manifest does not become active")
}

// connect returns a stage for a running server.
func connect(o Options) (*stage, error) {
	s := &stage{url: o.Server, keys: map[string]string{keyRequester: o.Key}, stop: func() error { return nil }}
	if o.Keys != "" {
		if err := readJSON(o.Keys, &s.keys); err != nil {
			return nil, err
		}
	}
	if o.AdminKey == "" {
		return s, nil
	}
	key, err := os.ReadFile(o.AdminKey)
	if err != nil {
		return nil, err
	}
	s.admin, err = s.client(strings.TrimSpace(string(key)))
	return s, err
}

// startDemo starts the demo program in a temporary folder. modelURL is the model that it uses, "" for
// none.
func startDemo(ctx context.Context, o Options, modelURL string) (*stage, error) {
	program, err := demoProgram(o.Demo)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "manifold-eval-")
	if err != nil {
		return nil, err
	}
	d := &demo{dir: dir, ended: make(chan struct{})}
	if err := d.start(ctx, program, o.Embeddings, modelURL); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	s, err := d.stage(ctx)
	if err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return s, nil
}

// demoProgram returns the path of the named program, or of the one beside this program.
func demoProgram(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(self), "demo")
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	found, err := exec.LookPath("demo")
	if err != nil {
		return "", contracts.Errorf(contracts.CodeInvalid, "there is no program demo beside %s; build it (go build -o bin/ ./cmd/demo), name it with --demo, or name a server with --server", self)
	}
	return found, nil
}

// demo is a running demo process.
type demo struct {
	dir     string
	process *exec.Cmd
	ended   chan struct{}
}

const logName = "log"

func (d *demo) start(ctx context.Context, program, embeddings, modelURL string) error {
	log, err := os.Create(filepath.Join(d.dir, logName))
	if err != nil {
		return err
	}
	args := []string{"-addr", "127.0.0.1:0", "-data", filepath.Join(d.dir, "data")}
	if embeddings != "" {
		args = append(args, "-embeddings", embeddings)
	}
	if modelURL != "" {
		args = append(args, "-model", "eval", "-model-url", modelURL)
	}
	// The process outlives ctx: stop ends it, so that it can finish its work.
	d.process = exec.CommandContext(context.WithoutCancel(ctx), program, args...) //nolint:gosec // the operator names the program
	d.process.Stdout, d.process.Stderr = log, log
	if err := errors.Join(d.process.Start()); err != nil {
		return errors.Join(err, log.Close())
	}
	go func() {
		_ = d.process.Wait() // the log shows how it ended
		_ = log.Close()
		close(d.ended)
	}()
	return nil
}

var running = regexp.MustCompile(`running at (\S+)`)

// stage waits until the demo serves.
func (d *demo) stage(ctx context.Context) (*stage, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // it trains its models first; seconds, except on a busy machine
	defer cancel()
	url, err := d.address(ctx)
	if err != nil {
		return nil, err
	}
	s := &stage{url: url, stop: d.stop}
	if err := readJSON(filepath.Join(d.dir, "data", "demo-keys.json"), &s.keys); err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(d.dir, "data", "server", "admin.key"))
	if err != nil {
		return nil, err
	}
	s.admin, err = s.client(strings.TrimSpace(string(key)))
	return s, err
}

func (d *demo) address(ctx context.Context) (string, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		log, err := os.ReadFile(filepath.Join(d.dir, logName))
		if err != nil {
			return "", err
		}
		if m := running.FindSubmatch(log); m != nil {
			return string(m[1]), nil
		}
		select {
		case <-d.ended:
			return "", contracts.Errorf(contracts.CodeInternal, "the demo ended: %s", log[max(0, len(log)-400):])
		case <-ctx.Done():
			return "", fmt.Errorf("the demo does not start: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

func (d *demo) stop() error {
	if d.process != nil && d.process.Process != nil {
		_ = d.process.Process.Signal(syscall.SIGTERM) // it may have ended already
		select {
		case <-d.ended:
		case <-time.After(40 * time.Second):
			_ = d.process.Process.Kill()
			<-d.ended
		}
	}
	return os.RemoveAll(d.dir)
}

func readJSON(path string, into any) error {
	body, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
