package seal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/internal/store/seal"
)

// memory is an in-memory database of ledgers, sessions, gates and keys.
type memory struct {
	seals map[string]seal.Sealed
	rows  map[string][][]any // by table
	// most is the maximum number of rows returned by one call of Rows.
	most int
}

func (m *memory) Seals(_ context.Context, after string, limit int) (page []seal.Sealed, err error) {
	for scope, s := range m.seals {
		if scope > after {
			page = append(page, s)
		}
	}
	slices.SortFunc(page, func(a, b seal.Sealed) int { return strings.Compare(a.Scope, b.Scope) })
	return page[:min(limit, len(page))], nil
}

func (m *memory) Rows(_ context.Context, t seal.Table, key string, span seal.Span, visit func(string, []any)) error {
	given := 0
	for _, row := range m.rows[t.Name] {
		if at := slices.Index(t.Columns, key); at >= 0 {
			id, _ := row[at].(string)
			if span.After != nil && id <= *span.After || span.UpTo != nil && id > *span.UpTo {
				continue
			}
		}
		given++
		visit(t.Scope(row), row)
	}
	m.most = max(m.most, given)
	return nil
}

func (m *memory) add(table string, values ...any) { m.rows[table] = append(m.rows[table], values) }

func (m *memory) store(s seal.Sealed) error {
	m.seals[s.Scope] = s
	return nil
}

// filled returns a database with rows of more scopes than fit on a page, all of them sealed.
func filled(t *testing.T) (*memory, *seal.Sealer) {
	t.Helper()
	m, s := &memory{seals: map[string]seal.Sealed{}, rows: map[string][][]any{}}, seal.New([]byte("key"))
	m.add("api_key", "k1", "hash", int64(1), int64(0), "{}")
	for i := range 2500 {
		run, session := fmt.Sprintf("r%04d", i), fmt.Sprintf("s%04d", i)
		m.add("ledger", run, int64(1), "plan")
		m.add("ledger", run, int64(2), "end")
		m.add("event_seq", session, int64(7))
	}
	m.add("interrupt", int64(1), "g1", "s0003", "r0002", "AB", "approval", "open", "ana", "[]", "", "", int64(1), "{}")
	m.add("interrupt", int64(2), "g2", "s0003", "", "CD", "choice", "open", "ana", "[]", "", "", int64(1), "{}")
	if err := s.SealAll(t.Context(), m, m.store); err != nil {
		t.Fatal(err)
	}
	return m, s
}

func TestCompareTellsWhatDiffers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*memory)
		want   []string
	}{
		"nothing": {func(*memory) {}, nil},
		"a row of the first page, one of a later one, and one of the house": {func(m *memory) {
			m.rows["ledger"][0][2], m.rows["ledger"][4999][2], m.rows["api_key"][0][4] = "other", "other", `{"roles":["admin"]}`
		}, []string{"house", "run:r0000", "run:r2499"}},
		"rows of nothing that is sealed, before all, between and after": {func(m *memory) {
			m.add("ledger", "", int64(1), "x")
			m.add("ledger", "r1000x", int64(1), "x")
			m.add("ledger", "z", int64(1), "x")
			m.add("event_seq", "z", int64(1))
		}, []string{"run:", "run:r1000x", "run:z", "session:z"}},
		"all rows of a run and of a session":      {func(m *memory) { m.rows["ledger"], m.rows["event_seq"] = m.rows["ledger"][2:], m.rows["event_seq"][1:] }, []string{"run:r0000", "session:s0000"}},
		"a gate that goes from its run to nobody": {func(m *memory) { m.rows["interrupt"][0][3] = "" }, []string{"run:r0002", "session:s0003"}},
		"a gate of a session only":                {func(m *memory) { m.rows["interrupt"][1][6] = "approved" }, []string{"session:s0003"}},
		"a seal that is gone":                     {func(m *memory) { delete(m.seals, "run:r1000"); delete(m.seals, "house") }, []string{"house", "run:r1000"}},
		"a seal of nothing":                       {func(m *memory) { m.seals["other"] = seal.Sealed{Scope: "other", Version: 1, Sum: make([]byte, 32)} }, []string{"other"}},
		"an older version":                        {func(m *memory) { s := m.seals["run:r1000"]; s.Version++; m.seals["run:r1000"] = s }, []string{"run:r1000"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := filled(t)
			m.most = 0
			test.change(m)
			var found []string
			if _, err := s.Compare(t.Context(), m, func(scope string) { found = append(found, scope) }); err != nil {
				t.Fatal(err)
			}
			if slices.Sort(found); !slices.Equal(found, test.want) {
				t.Errorf("found %v, want %v", found, test.want)
			}
			if m.most > 2100 {
				t.Errorf("%d rows were asked for at a time: the memory grows with the database", m.most)
			}
		})
	}
}

// TestSomebodyElsesRowsFillNoMemory checks that a million foreign rows are detected with bounded
// memory.
func TestSomebodyElsesRowsFillNoMemory(t *testing.T) {
	t.Parallel()
	m, s := filled(t)
	for i := range 50_000 {
		m.add("plan", fmt.Sprintf("x%d", i), "{}")
	}
	found := 0
	if _, err := s.Compare(t.Context(), m, func(string) { found++ }); err != nil || found == 0 || found > 11_000 {
		t.Errorf("%d differ, %v", found, err)
	}
}

// TestASealSaysNothingOfItsRows checks that the seals of two versions of the same rows differ by
// a value that depends on the key.
func TestASealSaysNothingOfItsRows(t *testing.T) {
	t.Parallel()
	s := seal.New([]byte("key"))
	rows := s.Of("ledger", "run:r1", []any{"r1", int64(1), "x"})
	first, second := s.Seal("run:r1", 1, rows), s.Seal("run:r1", 2, rows)
	if slices.Equal(first.Sum, second.Sum) || !s.Fits(first, rows) || s.Fits(seal.Sealed{Scope: "run:r1", Version: 2, Sum: first.Sum}, rows) {
		t.Errorf("%x and %x", first.Sum, second.Sum)
	}
	if other := seal.New([]byte("another")); other.Fits(first, rows) || other.KeyID() == s.KeyID() {
		t.Error("another key makes the same seal")
	}
}
