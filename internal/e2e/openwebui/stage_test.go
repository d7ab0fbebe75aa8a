package openwebui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/examples/communication"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// patience is how long anything is waited for; nothing takes that long.
const patience = 45 * time.Second

// stage is everything that a test needs: the domains, the server as a program
// of its own, a relay that keeps what is sent to it, and an Open WebUI.
type stage struct {
	dir    string
	market *holder
	relay  *relay
	webui  string
	admin  *client.Client
	tokens map[string]string // of who has signed in, by address

	browser   context.Context //nolint:containedctx // it is the handle of the browser
	processes []*process
	closers   []func() error
}

func setUp(dir string) (*stage, error) {
	s := &stage{dir: dir, tokens: map[string]string{}}
	return s, s.start(dir)
}

func (s *stage) start(dir string) error {
	folder, err := output("./install.sh")
	if err != nil {
		return err
	}
	bootstrap, err := s.startDomains(filepath.Join(dir, "communication"))
	if err != nil {
		return err
	}
	urls, keys, err := s.startServers(dir, bootstrap)
	if err != nil {
		return err
	}
	return s.startWebUI(filepath.Join(folder, "python", "bin", "open-webui"), filepath.Join(dir, "webui"), urls, keys)
}

// startDomains serves those of the demo, the market behind somebody who can
// hold its answers.
func (s *stage) startDomains(mail string) (bootstrap []byte, err error) {
	prices, err := finance.New(finance.Config{})
	if err != nil {
		return nil, err
	}
	messages, err := communication.New(context.Background(), communication.Config{Dir: mail})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, messages.Close)
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		return nil, err
	}
	c := tenant.Credentials()
	people, err := workday.New(workday.Config{
		Access: workday.Access{All: []string{"operator"}},
		Today:  func() time.Time { return time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC) },
		Tenant: workday.Tenant{
			URL: s.serve(tenant), Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: 200, Burst: 50, MaxConcurrency: 16,
		},
	})
	if err != nil {
		return nil, err
	}
	var b contracts.Bootstrap
	for name, service := range map[string]interface{ Handler() (http.Handler, error) }{"finance": prices, "communication": messages, "workday": people} {
		handler, err := service.Handler()
		if err != nil {
			return nil, err
		}
		if name == "finance" {
			s.market = newHolder(handler)
			handler = s.market
		}
		b.Domains = append(b.Domains, contracts.Registration{Domain: name, URL: s.serve(handler)})
	}
	return json.Marshal(b)
}

func (s *stage) serve(handler http.Handler) (url string) {
	server := httptest.NewServer(handler)
	s.closers = append(s.closers, func() error {
		server.CloseClientConnections()
		server.Close()
		return nil
	})
	return server.URL
}

// signing is the secret that Open WebUI signs its users with.
const signing = "a-secret-of-these-tests-with-more-than-32-bytes"

// startServers builds the program, and starts it twice: without a model, behind the
// relay, and with one that follows a script. It returns the addresses that Open WebUI
// connects to, and the keys.
func (s *stage) startServers(dir string, bootstrap []byte) (urls, keys []string, err error) {
	file, program := filepath.Join(dir, "domains.json"), filepath.Join(dir, "manifold")
	if err := os.WriteFile(file, bootstrap, 0o600); err != nil {
		return nil, nil, err
	}
	if _, err := output("go", "build", "-o", program, "../../../cmd/manifold"); err != nil {
		return nil, nil, err
	}
	plain, err := s.startServer(program, file, filepath.Join(dir, "data"))
	if err != nil {
		return nil, nil, err
	}
	s.admin = plain.admin
	if s.relay, err = newRelay(plain.url); err != nil {
		return nil, nil, err
	}
	model := s.serve(scripted.New(&scripted.Script{Rules: modelRules()}))
	modelled, err := s.startServer(program, file, filepath.Join(dir, "data-model"), "REASONING_ENGINE=openai", "REASONING_MODEL=scripted", "REASONING_BASE_URL="+model+"/v1")
	return []string{s.serve(s.relay) + "/v1", modelled.url + "/v1"}, []string{plain.key, modelled.key}, err
}

// server is one that was started, with the key of a frontend.
type server struct {
	url, key string
	admin    *client.Client
}

func (s *stage) startServer(program, bootstrap, data string, env ...string) (server, error) {
	addr, err := freeAddr()
	if err != nil {
		return server{}, err
	}
	p, err := s.run(append(env, "SIGNING="+signing), program, "serve", "--embeddings", "off", "--addr", addr, "--data", data, "--bootstrap", bootstrap,
		"--frontend-jwt", "env:SIGNING", "--sessions-per-minute", "1000")
	if err != nil {
		return server{}, err
	}
	started := server{url: "http://" + addr}
	if err := p.answering(started.url+"/ready", patience); err != nil {
		return server{}, err
	}
	admin, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		return server{}, err
	}
	if started.admin, err = client.New(client.Config{URL: started.url, Key: strings.TrimSpace(string(admin))}); err != nil {
		return server{}, err
	}
	made, err := started.admin.CreateKey(context.Background(), contracts.KeySpec{Kind: "frontend", Principal: "openwebui", Roles: []string{"viewer", "operator", "approver"}})
	started.key = made.Text
	return started, err
}

// headers are those that docs/open-webui.md tells an admin to set; the models of the
// second connection have a prefix.
const (
	forwarded = `"headers":{"X-OpenWebUI-Chat-Id":"{{CHAT_ID}}","X-OpenWebUI-Message-Id":"{{MESSAGE_ID}}",` +
		`"X-OpenWebUI-User-Message-Id":"{{USER_MESSAGE_ID}}","X-OpenWebUI-User-Message-Parent-Id":"{{USER_MESSAGE_PARENT_ID}}","X-OpenWebUI-Task":"{{TASK}}"}`
	headers = `{"0":{"enable":true,` + forwarded + `},"1":{"enable":true,"prefix_id":"modelled",` + forwarded + `}}`
)

// startWebUI starts an Open WebUI on an empty database, with an admin.
func (s *stage) startWebUI(program, data string, urls, keys []string) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(addr)
	env := []string{
		"DATA_DIR=" + data, "USE_SLIM_DOCKER=true", "WEBUI_SECRET_KEY=of-these-tests", "ENABLE_PERSISTENT_CONFIG=False",
		"WEBUI_ADMIN_NAME=Ana", "WEBUI_ADMIN_EMAIL=" + ana, "WEBUI_ADMIN_PASSWORD=" + password, "BYPASS_MODEL_ACCESS_CONTROL=True",
		"OPENAI_API_BASE_URLS=" + strings.Join(urls, ";"), "OPENAI_API_KEYS=" + strings.Join(keys, ";"), "OPENAI_API_CONFIGS=" + headers, "ENABLE_OLLAMA_API=False",
		"ENABLE_FORWARD_USER_INFO_HEADERS=True", "FORWARD_USER_INFO_HEADER_JWT_SECRET=" + signing,
		"OFFLINE_MODE=True", "HF_HUB_OFFLINE=1", "RAG_EMBEDDING_ENGINE=openai", "BYPASS_EMBEDDING_AND_RETRIEVAL=True",
		"ENABLE_EVALUATION_ARENA_MODELS=False", "ENABLE_COMMUNITY_SHARING=False", "ENABLE_VERSION_UPDATE_CHECK=False",
		"ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS=False", "ANONYMIZED_TELEMETRY=False", "DO_NOT_TRACK=true",
	}
	server, err := s.run(env, program, "serve", "--host", host, "--port", port)
	if err != nil {
		return err
	}
	s.webui = "http://" + addr
	return server.answering(s.webui+"/health", 4*patience) // the first start of a fresh install compiles and migrates
}

// process is a program that runs beside the tests.
type process struct {
	cmd   *exec.Cmd
	log   bytes.Buffer
	ended chan struct{}
}

func (s *stage) run(env []string, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), ended: make(chan struct{})}
	p.cmd.Dir = s.dir
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ends is no question of these tests
		close(p.ended)
	}()
	s.processes = append(s.processes, p)
	return p, nil
}

// answering waits until the program answers with 200.
func (p *process) answering(url string, wait time.Duration) error {
	for deadline := time.After(wait); ; {
		select {
		case <-p.ended:
			return fmt.Errorf("%s has ended before it answered", filepath.Base(p.cmd.Path))
		case <-deadline:
			return fmt.Errorf("%s did not answer within %s", url, wait)
		case <-time.After(100 * time.Millisecond):
		}
		res, err := http.Get(url)
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
}

// close ends everything, the last first.
func (s *stage) close() error {
	var errs []error
	for _, p := range s.processes {
		_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended by itself
		kill := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
		<-p.ended
		kill.Stop()
	}
	for _, closer := range s.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// logs are the last lines of all programs; they may be read once they ended.
func (s *stage) logs() string {
	var out strings.Builder
	for _, p := range s.processes {
		lines := strings.Split(p.log.String(), "\n")
		fmt.Fprintf(&out, "== %s\n%s\n", filepath.Base(p.cmd.Path), strings.Join(lines[max(0, len(lines)-60):], "\n"))
	}
	return out.String()
}

func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
