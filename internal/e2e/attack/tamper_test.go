package attack_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/witness"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// evidence is a stopped site: its database, and what lies outside of it.
type evidence struct {
	database copies
	keys     witness.Keys
	roots    string
	runs     []string
}

// collected plays a site with ended, waiting and unsettled runs, keys that came
// and went, a deleted session, and stops it.
func collected(t *testing.T, change ...func(*app.Config)) evidence {
	t.Helper()
	s := open(t, change...)
	alice, otto := s.person("alice", "operator"), s.person("otto", "approver", "operator")
	paid := s.asks(alice, "vault.pay", toAlice)
	s.approves(otto, s.gate(paid))
	s.ended(paid)
	waiting := s.asks(alice, "vault.pay", toAlice)
	s.gate(waiting)
	asked := s.asks(alice, "vault.pay", map[string]any{"account": "savings"})
	s.asked(asked, contracts.InterruptClarification)
	s.vault.falls()
	unknown := s.asks(alice, "vault.pay", toAlice)
	s.approves(otto, s.gate(unknown))
	s.asked(unknown, contracts.InterruptOutcomeUnknown)
	gone := s.asks(alice, "vault.peek", toAlice)
	s.ended(gone)
	view, err := s.root.Run(t.Context(), gone, client.Opt{})
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.DeleteSession(t.Context(), view.SessionID); err != nil {
		t.Fatal(err)
	}
	report, err := s.root.AuditVerify(t.Context(), "")
	if err != nil || !report.OK || report.Sealed == 0 {
		t.Fatalf("before anything was changed: %+v, %v", report, err)
	}
	apptest.Stop(t, s.app)
	e := evidence{roots: filepath.Join(s.dir, "roots.jsonl"), runs: []string{paid, waiting, asked, unknown}}
	if file, err := os.ReadFile(filepath.Join(s.dir, "manifold.db")); err == nil {
		e.database = folder(file)
	}
	if e.keys, _, err = witness.Load(filepath.Join(s.dir, "audit.keys")); err != nil {
		t.Fatal(err)
	}
	return e
}

// noticed changes a copy of the database and tells what an audit finds; a
// database that does not open any more is noticed.
func (e evidence) noticed(t *testing.T, change func(*sql.DB) error) []string {
	t.Helper()
	store, err := e.database.change(t, change, e.keys.Sealing)
	if err != nil {
		return []string{err.Error()}
	}
	defer store.close()
	return e.faults(t, store)
}

// faults are what an audit of an open store finds.
func (e evidence) faults(t *testing.T, store stored) []string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	known, err := e.keys.Known()
	if err != nil {
		t.Fatal(err)
	}
	signers, err := e.keys.Signers()
	if err != nil {
		t.Fatal(err)
	}
	outside, err := witness.Open(e.roots, http.DefaultClient, nil)
	if err != nil {
		t.Fatal(err)
	}
	publisher, err := audit.NewPublisher(audit.PublisherConfig{Signers: signers, Known: known, Outside: []audit.Outside{outside}}, store.proofs)
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.NewVerifier(store.runs, store.proofs, publisher).Check(ctx, "")
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for _, f := range report.Faults {
		found = append(found, f.RunID+": "+f.Message)
	}
	return found
}

func must[T any](t *testing.T, get func() (T, error)) T {
	t.Helper()
	v, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// onBoth runs a test on a site with a file, and on one with PostgreSQL.
func onBoth(t *testing.T, test func(*testing.T, evidence)) {
	t.Helper()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		test(t, collected(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		on := pgtest.Start(t)
		url, other := on.URL(t), on.URL(t)
		e := collected(t, func(c *app.Config) { c.PostgresURL = url })
		e.database = keptCopy(t, url, other)
		test(t, e)
	})
}

// TestAnAuditIsCleanAfterASweep: a run that retention takes leaves its ledger, which
// ends with an entry that says so.
func TestAnAuditIsCleanAfterASweep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, e evidence) {
		ctx := context.WithoutCancel(t.Context())
		store, err := e.database.change(t, func(*sql.DB) error { return nil }, e.keys.Sealing)
		if err != nil {
			t.Fatal(err)
		}
		defer store.close()
		later := time.Now().Add(time.Hour)
		swept, err := store.runs.Sweep(ctx, later)
		if err != nil || swept.Runs != 1 {
			t.Fatalf("%+v, %v", swept, err)
		}
		talk, err := store.talk.SweepSessions(ctx, later)
		if err != nil || talk.Turns+talk.Sessions+talk.Questions == 0 {
			t.Fatalf("%+v, %v", talk, err)
		}
		if found := e.faults(t, store); len(found) > 0 {
			t.Errorf("after a sweep an audit finds %v", found)
		}
		paid := e.runs[0]
		if listed, err := store.runs.ListRuns(ctx, execution.RunFilter{}); err != nil || slices.ContainsFunc(listed.Items, func(r execution.Run) bool { return r.ID == paid }) {
			t.Errorf("the run that has ended is kept: %v", err)
		}
		ledger, err := store.runs.Ledger(ctx, paid, 0, 0)
		if err != nil || len(ledger) < 2 {
			t.Fatalf("its ledger is gone: %v", err)
		}
		if last := ledger[len(ledger)-1]; last.Kind != contracts.LedgerDeleted || last.Key != execution.GoneByRetention {
			t.Errorf("its ledger does not end with what took it: %s", asJSON(last))
		}
	})
}

// TestEveryChangeOfAStoredDatabaseIsNoticed changes one value or takes one row
// away, at random, TAMPER times [60, a tenth of it with -short]; make tamper does 1,000. One time of four an
// entry of a ledger is changed as well, with its chain, seals and log made again, and
// then some more rows.
func TestEveryChangeOfAStoredDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	onBoth(t, everyChangeIsNoticed)
}

func everyChangeIsNoticed(t *testing.T, e evidence) {
	if found := e.noticed(t, func(*sql.DB) error { return nil }); len(found) > 0 {
		t.Fatalf("nothing was changed: %v", found)
	}
	times, seed := 60, uint64(1)
	if testing.Short() {
		times = 6
	}
	if n, err := strconv.Atoi(os.Getenv("TAMPER")); err == nil {
		times, seed = n, rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var counted struct{ noticed, harmless int }
	for range times {
		var what tampering
		several := random.IntN(4) == 0
		found := e.noticed(t, func(db *sql.DB) (err error) {
			if several {
				return e.tamperWithChain(t.Context(), db, random)
			}
			what, err = tamper(t.Context(), db, e.database.dialect(), random)
			return err
		})
		_, named := e.database.dialect().harmless[what.table+"."+what.column]
		switch {
		case several && len(found) == 0:
			t.Errorf("seed %d: nobody notices a chain that was made anew with other rows", seed)
		case len(found) > 0:
			counted.noticed++
		case named:
			counted.harmless++
		default:
			t.Errorf("seed %d: nobody notices %s", seed, what)
		}
	}
	t.Logf("seed %d: %d noticed, %d harmless by the list", seed, counted.noticed, counted.harmless)
}

// tamperWithChain changes an entry of a run's ledger and makes its chain again, then
// the seals, and the log, or not, and changes some more rows.
func (e evidence) tamperWithChain(ctx context.Context, db *sql.DB, random *rand.Rand) error {
	run := e.runs[random.IntN(len(e.runs))]
	if err := recompute(run, random.IntN(1000))(ctx, db); err != nil {
		return err
	}
	for _, tables := range [][]string{{}, {"seal", "seal_key"}, {"seal", "seal_key", "log_leaf", "log_hash", "log_root"}}[random.IntN(3)] {
		if _, err := db.ExecContext(ctx, "DELETE FROM "+tables); err != nil {
			return err
		}
	}
	for range random.IntN(4) {
		if _, err := tamper(ctx, db, e.database.dialect(), random); err != nil {
			return err
		}
	}
	return nil
}

// tampering is a change, for people.
type tampering struct{ table, column, text string }

func (c tampering) String() string { return c.text }

// tamper changes a value of a row, or deletes the row.
func tamper(ctx context.Context, db *sql.DB, in dialect, random *rand.Rand) (tampering, error) {
	tables, err := texts(ctx, db, in.tables)
	if err != nil {
		return tampering{}, err
	}
	for {
		what := tampering{table: tables[random.IntN(len(tables))]}
		var rows int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+what.table).Scan(&rows); err != nil {
			return what, err
		}
		if rows == 0 {
			continue
		}
		columns, err := texts(ctx, db, strings.ReplaceAll(in.columns, "~", what.table))
		if err != nil {
			return what, err
		}
		keys, err := texts(ctx, db, strings.ReplaceAll(in.keys, "~", what.table))
		if err != nil {
			return what, err
		}
		place := random.IntN(rows)
		this := fmt.Sprintf("(%[1]s) = (SELECT %[1]s FROM %[2]s LIMIT 1 OFFSET %[3]d)", strings.Join(keys, ", "), what.table, place)
		if random.IntN(5) == 0 {
			what.text, what.column = fmt.Sprintf("the deletion of row %d of %s", place, what.table), columns[0]
			if _, all := in.harmless[what.table+"."+columns[0]]; !all {
				what.column = ""
			}
			_, err = db.ExecContext(ctx, "DELETE FROM "+what.table+" WHERE "+this)
			return what, err
		}
		what.column = columns[random.IntN(len(columns))]
		var value any
		if err := db.QueryRowContext(ctx, "SELECT "+what.column+" FROM "+what.table+" WHERE "+this).Scan(&value); err != nil {
			return what, err
		}
		other := changed(value, random)
		what.text = fmt.Sprintf("%s.%s of row %d: %.60q instead of %.60q", what.table, what.column, place, fmt.Sprint(other), fmt.Sprint(value))
		_, err = db.ExecContext(ctx, "UPDATE "+what.table+" SET "+what.column+" = "+in.literal(other)+" WHERE "+this)
		if err == nil || !refused.MatchString(err.Error()) {
			return what, err
		}
	}
}

// refused is what a database says that cannot hold a value.
var refused = regexp.MustCompile(`constraint|SQLSTATE (22|23|428C9)`)

// literal writes a value in SQL.
func (d dialect) literal(value any) string {
	switch v := value.(type) {
	case []byte:
		return d.bytes(v)
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	default:
		return fmt.Sprint(v)
	}
}

// changed is another value of the same type.
func changed(value any, random *rand.Rand) any {
	switch v := value.(type) {
	case bool:
		return !v
	case int64:
		return v + 1 + random.Int64N(1000)
	case string:
		if v == "" {
			return "x"
		}
		b := []byte(v)
		at := random.IntN(len(b))
		b[at] = "abcdefgh0123456789"[random.IntN(18)]
		if string(b) == v {
			b = append(b, 'z')
		}
		return string(b)
	case []byte:
		b := append(bytes.Clone(v), 0)
		at := random.IntN(len(b))
		b[at] ^= 1 << random.IntN(8)
		return b
	default:
		return "x"
	}
}

func texts(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// TestAChainThatIsRecomputedIsNoticed: who changes an entry makes all that
// follows again, the run's row, the leaves of the log and its hashes; who has
// stolen the key of the seals makes those again too. What they cannot make is
// the root that was published.
func TestAChainThatIsRecomputedIsNoticed(t *testing.T) {
	t.Parallel()
	onBoth(t, aRecomputedChainIsNoticed)
}

func aRecomputedChainIsNoticed(t *testing.T, e evidence) {
	none := func(context.Context, *sql.DB) error { return nil }
	exec := func(statements ...string) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			for _, s := range statements {
				if _, err := db.ExecContext(ctx, s); err != nil {
					return fmt.Errorf("%s: %w", s, err)
				}
			}
			return nil
		}
	}
	unsealed := exec(`DELETE FROM seal`, `DELETE FROM seal_key`)
	unlogged := exec(`DELETE FROM log_leaf`, `DELETE FROM log_hash`, `DELETE FROM log_root`)
	for _, run := range e.runs {
		forget := exec(
			`DELETE FROM ledger WHERE run_id = '`+run+`'`, `DELETE FROM run WHERE id = '`+run+`'`, `DELETE FROM plan WHERE run_id = '`+run+`'`,
			`DELETE FROM node WHERE run_id = '`+run+`'`, `DELETE FROM interrupt WHERE run_id = '`+run+`'`, `DELETE FROM intent WHERE run_id = '`+run+`'`,
			`DELETE FROM event WHERE run_id = '`+run+`'`, `DELETE FROM blob_name WHERE run_id = '`+run+`'`, `DELETE FROM node_data WHERE run_id = '`+run+`'`,
		)
		for name, steps := range map[string][]func(context.Context, *sql.DB) error{
			"the chain":                         {recompute(run, last), none},
			"the chain, sealed anew":            {recompute(run, last), unsealed},
			"the chain, sealed and logged anew": {recompute(run, last), unsealed, unlogged},
			"a deleted run":                     {forget},
			"a deleted run, sealed anew":        {forget, unsealed},
			"a deleted run, without a log":      {forget, unsealed, unlogged},
			"a run cut off after its plan":      {exec(`DELETE FROM ledger WHERE run_id = '`+run+`' AND seq > 1`, `UPDATE run SET ledger_seq = 1`), unsealed},
		} {
			found := e.noticed(t, func(db *sql.DB) error {
				for _, step := range steps {
					if err := step(t.Context(), db); err != nil {
						return err
					}
				}
				return nil
			})
			if len(found) == 0 {
				t.Errorf("%s: nobody notices %s", run, name)
			}
		}
	}
}

// last is the last entry of a chain.
const last = -1

// recompute changes who did an entry of a chain, and makes all hashes again.
func recompute(run string, number int) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		bodies, err := texts(ctx, db, `SELECT body FROM ledger WHERE run_id = '`+run+`' ORDER BY seq`)
		if err != nil {
			return err
		}
		head, changed := "", (len(bodies)+number%len(bodies))%len(bodies)
		for i, body := range bodies {
			var entry contracts.LedgerEntry
			if err := json.Unmarshal([]byte(body), &entry); err != nil {
				return err
			}
			if i == changed {
				entry.Actor = "nobody"
			}
			if err := entry.Seal(head); err != nil {
				return err
			}
			head = entry.Hash
			again, err := json.Marshal(entry)
			if err != nil {
				return err
			}
			if _, err := db.ExecContext(ctx, fmt.Sprintf(`UPDATE ledger SET body = %s WHERE run_id = '%s' AND seq = %d`, dialect{}.literal(string(again)), run, entry.Seq)); err != nil {
				return err
			}
		}
		_, err = db.ExecContext(ctx, fmt.Sprintf(`UPDATE run SET ledger_head = '%s' WHERE id = '%s'`, head, run))
		return err
	}
}

// TestActsAreOnRecordAndProven: who made which key, which domain, deleted which
// session; with which key, from where; and each under a signed root that
// somebody checks who has nothing but the public key.
func TestActsAreOnRecordAndProven(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice := s.person("alice", "operator")
	run := s.asks(alice, "vault.peek", toAlice)
	s.ended(run)
	view, err := alice.Run(t.Context(), run, client.Opt{})
	if err == nil {
		err = alice.DeleteSession(t.Context(), view.SessionID)
	}
	if err != nil {
		t.Fatal(err)
	}
	acts, err := s.root.Ledger(t.Context(), execution.AdminChain)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []contracts.LedgerKind
	for _, a := range acts {
		kinds = append(kinds, a.Kind)
		if a.Actor != "system" && (a.KeyID == "" || a.From != "127.0.0.1") {
			t.Errorf("%s does not say with which key, and from where: %+v", a.Kind, a)
		}
	}
	want := []contracts.LedgerKind{contracts.ActKeyCreated, contracts.ActDomainRegistered, contracts.ActKeyCreated, contracts.ActSessionDeleted}
	if !slices.Equal(kinds, want) || acts[3].Actor != "alice" || acts[3].NodeID != view.SessionID {
		t.Errorf("acts %v, want %v: %s", kinds, want, asJSON(acts))
	}
	if _, err := alice.Ledger(t.Context(), "nobody"); contracts.CodeOf(err) == "" {
		t.Error("there is a ledger of nobody")
	}
	if entries, err := s.root.Ledger(t.Context(), run); err != nil || entries[len(entries)-1].Kind != contracts.LedgerDeleted {
		t.Errorf("the ledger of the deleted run: %s, %v", asJSON(entries), err)
	}
	apptest.Stop(t, s.app)
	again := apptest.Start(t, app.Config{Addr: "127.0.0.1:0", DataDir: s.dir})
	s.url = again.URL()
	root := s.with(apptest.Key(t, filepath.Join(s.dir, "admin.key")))
	public := strings.Fields(string(must(t, func() ([]byte, error) { return os.ReadFile(filepath.Join(s.dir, "audit.keys.pub")) })))
	proof, err := root.AuditProof(t.Context(), execution.AdminChain, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := witness.CheckProof(proof, public...); err != nil {
		t.Errorf("a sound proof: %v", err)
	}
	proof.Entries[0].Actor = "mallory"
	if _, err := witness.CheckProof(proof, public...); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("a proof of another actor: %v", err)
	}
}
