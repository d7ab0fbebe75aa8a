package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresEnv is the environment variable with the address of a PostgreSQL server on which
// databases may be created and dropped. Without it only engines with files are measured.
const postgresEnv = "MANIFOLD_BENCH_POSTGRES"

func contenders() []contender {
	all := []contender{
		{name: "Manifold over its API, SQLite", settings: "as shipped, rate limits lifted", lines: "0", start: manifold(false)},
		{name: "DBOS Go 1.8.0 in process, SQLite", settings: "defaults", lines: "20", start: dbosEngine(false)},
		{name: "LangGraph 1.2.24 in process, SQLite", settings: "SqliteSaver, durability sync, 64 threads", lines: "20", start: langgraph("sqlite")},
		{name: "Temporal CLI 1.5.1 dev server, SQLite", settings: "SDK defaults, activities bounded by 10 s", lines: "25", start: temporal},
		{name: "Restate 1.7.12, RocksDB", settings: "defaults", lines: "20", start: restateEngine},
	}
	if os.Getenv(postgresEnv) == "" {
		return all
	}
	return append(all,
		contender{name: "Manifold over its API, PostgreSQL", settings: "as shipped, rate limits lifted", lines: "0", start: manifold(true)},
		contender{name: "DBOS Go 1.8.0 in process, PostgreSQL", settings: "defaults", lines: "20", start: dbosEngine(true)},
		contender{name: "LangGraph 1.2.24 in process, PostgreSQL", settings: "PostgresSaver, pool of 64, durability sync, 64 threads", lines: "20", start: langgraph("postgres")},
	)
}

// database returns the address of the database of a folder, which is created on first use.
func database(ctx context.Context, dir string) (string, error) {
	name := "peers_" + filepath.Base(dir)
	config, err := pgx.ParseConfig(os.Getenv(postgresEnv))
	if err != nil {
		return "", err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if _, err := os.Stat(filepath.Join(dir, "database")); err != nil {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, "database"), nil, 0o600); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("postgres://%s:%s@%s/%s", config.User, config.Password, net.JoinHostPort(config.Host, fmt.Sprint(config.Port)), name), nil
}

// self returns a command that runs this program as a contender.
func self(mode string, args ...string) func(string, int, int) *exec.Cmd {
	return func(what string, runs, inFlight int) *exec.Cmd {
		cmd := exec.Command(os.Args[0], append([]string{"-as", mode, what, fmt.Sprint(runs), fmt.Sprint(inFlight)}, args...)...)
		return cmd
	}
}

func manifold(postgres bool) func(context.Context, string, string) (*running, error) {
	return func(ctx context.Context, dir, domain string) (*running, error) {
		bootstrap := filepath.Join(dir, "bootstrap.json")
		if err := os.WriteFile(bootstrap, []byte(`{"domains":[{"domain":"gauges","url":"`+domain+`"}]}`), 0o600); err != nil {
			return nil, err
		}
		address, err := freePort()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(os.Getenv("MANIFOLD"), "serve", "--addr", address, "--data", dir, "--bootstrap", bootstrap, "--embeddings", "off",
			"--requests-per-minute", "100000000", "--sessions-per-minute", "100000000", "--log-level", "error")
		cmd.Stderr, cmd.Env = os.Stderr, os.Environ()
		if postgres {
			db, err := database(ctx, dir)
			if err != nil {
				return nil, err
			}
			cmd.Env = append(cmd.Env, "POSTGRES_DSN="+db)
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return &running{self("manifold", "http://"+address, filepath.Join(dir, "admin.key")), []*exec.Cmd{cmd}}, ready("http://" + address + "/health")
	}
}

func dbosEngine(postgres bool) func(context.Context, string, string) (*running, error) {
	return func(ctx context.Context, dir, domain string) (*running, error) {
		address, err := "sqlite:"+filepath.Join(dir, "dbos.db"), error(nil)
		if postgres {
			address, err = database(ctx, dir)
		}
		return &running{ask: self("dbos", address, domain)}, err
	}
}

func langgraph(saver string) func(context.Context, string, string) (*running, error) {
	return func(ctx context.Context, dir, domain string) (*running, error) {
		address, err := filepath.Join(dir, "langgraph.db"), error(nil)
		if saver == "postgres" {
			address, err = database(ctx, dir)
		}
		python := os.Getenv("PYTHON")
		if python == "" {
			return nil, errors.New("PYTHON names no Python with requirements.txt")
		}
		return &running{ask: func(what string, runs, inFlight int) *exec.Cmd {
			return exec.Command(python, "langgraph_peer.py", what, fmt.Sprint(runs), fmt.Sprint(inFlight), saver, address, domain)
		}}, err
	}
}

func temporal(_ context.Context, dir, domain string) (*running, error) {
	server := os.Getenv("TEMPORAL")
	if server == "" {
		return nil, errors.New("TEMPORAL names no temporal CLI")
	}
	address, err := freePort()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(server, "server", "start-dev", "--headless", "--port", port, "--db-filename", filepath.Join(dir, "temporal.db"), "--log-level", "error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := time.Now().Add(time.Minute)
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return &running{self("temporal", address, domain), []*exec.Cmd{cmd}}, conn.Close()
		}
		if time.Now().After(end) {
			return nil, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func ready(url string) error {
	return until(time.Minute, func() bool {
		res, err := http.Get(url) //nolint:noctx,gosec // of this program
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}
