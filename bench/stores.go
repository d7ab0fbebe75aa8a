package main

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// postgresEnv is the environment variable with the PostgreSQL address of the part "stores". A
// separate schema is created there, and dropped.
const postgresEnv = "MANIFOLD_BENCH_POSTGRES"

// overStores measures the released server on PostgreSQL, with one server and with two, and on a
// file, in one report.
func overStores(ctx context.Context, p *page, dir string, e effort) error {
	address := os.Getenv(postgresEnv)
	if address == "" {
		p.printf("\n### PostgreSQL beside SQLite\n\nNot measured: %s names no database.\n", postgresEnv)
		return nil
	}
	return withServers(ctx, dir, address, func(servers []*whole) error { return storeTable(ctx, p, servers, e) })
}

// withServers measures servers on a file and on their own schema, and always stops them.
func withServers(ctx context.Context, dir, address string, measure func([]*whole) error) (err error) {
	address, drop, err := freshSchema(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, drop)) }()
	servers, err := storeServers(ctx, dir, address)
	defer func() {
		for _, w := range slices.Backward(servers) {
			err = errors.Join(err, closing(ctx, w.close))
		}
	}()
	if err != nil {
		return err
	}
	return measure(servers)
}

// storeServers starts one server on a file and two on one database. It returns those that were
// started also with an error.
func storeServers(ctx context.Context, dir, address string) (servers []*whole, err error) {
	for _, name := range []string{"file", "one", "two"} {
		w := newWhole()
		w.postgres, w.keys = address, filepath.Join(dir, "audit.keys")
		switch name {
		case "file":
			w.postgres, w.keys = "", ""
		case "two":
			w.key, w.domain = servers[1].key, servers[1].domain
		}
		servers = append(servers, w)
		if err := w.start(ctx, dir+"/"+name); err != nil {
			return servers, err
		}
	}
	return servers, nil
}

func storeTable(ctx context.Context, p *page, servers []*whole, e effort) error {
	var each []func(context.Context) error
	for _, w := range servers {
		one, err := w.prepare(ctx, noop, 10)
		if err != nil {
			return err
		}
		each = append(each, one)
	}
	var turn atomic.Int64
	p.printf("\n### PostgreSQL beside SQLite: 10 no-op reads over HTTP, asked for with one POST /v1/runs\n\n")
	return loadTable(ctx, p, e, []racer{
		{"the calls alone, no server", servers[0].direct(noop, 10)},
		{"SQLite", each[0]},
		{"PostgreSQL", each[1]},
		{"PostgreSQL, two servers in turn", func(ctx context.Context) error { return each[1+turn.Add(1)%2](ctx) }},
	})
}

// freshSchema creates an unused schema, and returns its address.
func freshSchema(ctx context.Context, address string) (string, func(context.Context) error, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, err
	}
	do := func(ctx context.Context, statement string) error {
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, statement)
		return errors.Join(err, conn.Close(ctx))
	}
	schema := "bench_" + strings.ToLower(rand.Text())
	if err := do(ctx, "CREATE SCHEMA "+schema); err != nil {
		return "", nil, err
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String(), func(ctx context.Context) error { return do(ctx, "DROP SCHEMA "+schema+" CASCADE") }, nil
}
