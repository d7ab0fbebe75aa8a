package sqlstore

// Kind is the type of a column.
type Kind int

// The types of columns. List is a JSON list of strings.
const (
	Text Kind = iota
	Int
	Bool
	Bytes
	List
)

// Column is a column that rows are written to. A dialect that renders its name as "" has no such
// column.
type Column struct {
	Name string
	Kind Kind
}

// Table describes how to write rows to a table.
type Table struct {
	Name    string
	Columns []Column
	// Key is the number of leading columns that identify the row to update. If it is 0, rows are
	// inserted.
	Key int
	// Conflict is the ON CONFLICT clause for rows that exist already.
	Conflict string
}

// Rows are rows to write to a table. A backend writes them with as few statements as possible.
type Rows struct {
	*Table

	// Cells are the values row by row: string, int64, bool or []byte.
	Cells []any
}

func (r *Rows) add(cells ...any) { r.Cells = append(r.Cells, cells...) }

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Cells) / len(r.Columns) }

// Rendered returns the columns that exist in a dialect, and their indexes in the rows.
func (t *Table) Rendered(d Dialect) (columns []Column, at []int) {
	for i, c := range t.Columns {
		if c.Name = d.Render(c.Name); c.Name != "" {
			columns, at = append(columns, c), append(at, i)
		}
	}
	return columns, at
}

func texts(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Name: name}
	}
	return columns
}

func ints(names ...string) []Column {
	columns := texts(names...)
	for i := range columns {
		columns[i].Kind = Int
	}
	return columns
}

func columns(groups ...[]Column) []Column {
	var all []Column
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

const keepOld = `ON CONFLICT DO NOTHING`

// tables are the tables that a group writes to.
var tables = struct {
	runs, born, plans, search, bornNodes, nodes, gates, intents, ledger, payloads, blobs, names, data, locks, mail Table
}{
	runs: Table{Name: "run", Key: 1, Columns: columns(texts("id", "owner", "state", "verdict"),
		ints("epoch", "lease_until", "wake_seq", "handled_seq", "wake_at", "ledger_seq"), texts("ledger_head"),
		[]Column{{"parked", Bool}}, ints("updated_at", "finished_at"))},
	born: Table{Name: "run", Columns: columns(texts("id", "session_id", "owner", "state", "verdict"),
		ints("epoch", "lease_until", "wake_seq", "handled_seq", "wake_at", "ledger_seq"), texts("ledger_head"),
		[]Column{{"parked", Bool}}, ints("updated_at", "finished_at"), texts("requester"), ints("format", "created_at", "cancel_requested_at"), texts("cancelled_by"))},
	plans:     Table{Name: "plan", Columns: texts("run_id", "body")},
	search:    Table{Name: "run_search", Columns: columns(ints("created_at"), texts("run_id", "goal", "domains"))},
	bornNodes: Table{Name: "node", Columns: texts("run_id", "node_id", "body")},
	nodes:     Table{Name: "node", Columns: texts("run_id", "node_id", "body"), Conflict: `ON CONFLICT (run_id, node_id) DO UPDATE SET body = excluded.body`},
	gates: Table{Name: "interrupt", Columns: columns(texts("id", "session_id", "run_id", "code", "type", "status"), ints("version"), texts("owner"),
		[]Column{{"roles", List}}, texts("domain", "class", "body"), ints("{pg:created_at}"))},
	intents: Table{Name: "intent", Columns: columns(texts("run_id", "node_id"), ints("n"), texts("key", "nonce", "operation", "outcome"),
		[]Column{{"consumed", Bool}}, texts("body"))},
	ledger:   Table{Name: "ledger", Columns: columns(texts("run_id"), ints("seq"), texts("body"))},
	payloads: Table{Name: "payload", Columns: columns(texts("run_id"), ints("seq"), []Column{{"body", Bytes}})},
	blobs:    Table{Name: "blob", Columns: columns(texts("sha256", "kind"), []Column{{"body", Bytes}}), Conflict: keepOld},
	names:    Table{Name: "blob_name", Columns: texts("sha256", "run_id"), Conflict: keepOld},
	data: Table{
		Name: "node_data", Columns: columns(texts("run_id", "node_id"), ints("expires_at"), []Column{{"body", Bytes}}),
		Conflict: `ON CONFLICT (run_id, node_id) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`,
	},
	locks: Table{Name: "held_lock", Columns: columns(texts("key", "run_id", "node_id"), ints("since")), Conflict: keepOld},
	mail:  Table{Name: "outbox", Columns: columns(texts("id", "session_id", "url", "body"), ints("attempts", "due_at", "created_at")), Conflict: keepOld},
}
