package app_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to read the stored models

	"github.com/manifold-run/manifold/internal/app/apptest"
)

// TestACatalogIsLearnedOnceOverRestarts checks that the second start uses the models of the
// first. Models that were changed in the database are trained again, with a log entry.
func TestACatalogIsLearnedOnceOverRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log bytes.Buffer
	start := func() {
		t.Helper()
		log.Reset()
		cfg := config(dir)
		cfg.Bootstrap, cfg.Logger = prices(t), slog.New(slog.NewTextHandler(&log, nil))
		a := apptest.StartAlone(t, cfg)
		if err := a.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}
		apptest.Stop(t, a)
	}
	rows := func(change string) string {
		t.Helper()
		db, err := sql.Open("sqlite", filepath.Join(dir, "manifold.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if change != "" {
			if _, err := db.ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		var out string
		if err := db.QueryRowContext(t.Context(), `SELECT coalesce(group_concat(id || '@' || kept_at), '') FROM (SELECT id, kept_at FROM learned ORDER BY id)`).Scan(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	start()
	first := rows("")
	if first == "" {
		t.Fatal("nothing is kept")
	}
	start()
	if again := rows(""); again != first {
		t.Errorf("it was learned again: %s, then %s", first, again)
	}
	rows(`UPDATE learned SET body = CAST(substr(body, 1, length(body) - 1) || x'A7' AS BLOB)`)
	start()
	if again := rows(""); again == first || !strings.Contains(log.String(), "learned again") {
		t.Errorf("what was changed is believed: %s, then %s; log:\n%s", first, again, log.String())
	}
}
