package seal

import "slices"

// Table specifies which columns of a table are sealed, and which of them determine the scope of a
// row.
type Table struct {
	Name    string
	Columns []string
	// run and session are the indexes of the run and session columns, or none. A row belongs to
	// its run, a row without a run to its session, and one without either to the global scope.
	run, session int
}

// none is the index of a missing column.
const none = -1

func ofRun(name, run string, columns ...string) Table {
	return Table{Name: name, Columns: columns, run: slices.Index(columns, run), session: none}
}

func ofSession(name, session string, columns ...string) Table {
	return Table{Name: name, Columns: columns, run: none, session: slices.Index(columns, session)}
}

func ofHouse(name string, columns ...string) Table {
	return Table{Name: name, Columns: columns, run: none, session: none}
}

// Scope returns the scope of a row with these values of the sealed columns.
func (t *Table) Scope(values []any) string {
	if t.run != none {
		id, _ := values[t.run].(string)
		if id != "" || t.session == none {
			return RunScope + id
		}
	}
	if t.session != none {
		id, _ := values[t.session].(string)
		return SessionScope + id
	}
	return GlobalScope
}

// Key returns the column that selects the rows of one kind of scope: RunScope, SessionScope or
// GlobalScope. It is empty for the global scope, which contains all rows of the table. ok is
// false if the table has no rows of the kind.
func (t *Table) Key(kind string) (column string, ok bool) {
	switch {
	case kind == RunScope && t.run != none:
		return t.Columns[t.run], true
	case kind == SessionScope && t.session != none:
		return t.Columns[t.session], true
	default:
		return "", kind == GlobalScope && t.run == none && t.session == none
	}
}

// The scopes. GlobalScope contains the rows that belong to no run and no session. The others are
// prefixes of an id.
const (
	GlobalScope  = "house"
	RunScope     = "run:"
	SessionScope = "session:"
)

// Tables returns the sealed tables. The columns that they omit are listed by Harmless or Checked.
func Tables() []Table {
	// A gate may be opened before its run.
	gates := ofRun("interrupt", "run_id", "place", "id", "session_id", "run_id", "code", "type", "status", "owner", "roles", "domain", "class", "version", "body")
	gates.session = slices.Index(gates.Columns, "session_id")
	return []Table{
		ofRun("run", "id", "id", "session_id", "requester", "format", "state", "cancel_requested_at", "cancelled_by",
			"ledger_seq", "ledger_head", "verdict", "created_at", "updated_at", "finished_at"),
		ofRun("plan", "run_id", "run_id", "body"),
		ofRun("node", "run_id", "place", "run_id", "node_id", "body"),
		gates,
		ofRun("intent", "run_id", "place", "run_id", "node_id", "n", "key", "nonce", "operation", "outcome", "consumed", "body"),
		ofSession("event", "session_id", "session_id", "seq", "run_id", "body"),
		ofSession("event_seq", "session_id", "session_id", "seq"),
		ofRun("ledger", "run_id", "run_id", "seq", "body"),
		ofRun("payload", "run_id", "run_id", "seq", "body"),
		ofRun("quarantine", "run_id", "run_id", "since"),
		ofHouse("blob", "sha256", "kind"), // the body is verified by its hash
		ofRun("blob_name", "run_id", "sha256", "run_id"),
		ofRun("node_data", "run_id", "run_id", "node_id", "expires_at", "body"),
		ofHouse("held_lock", "key", "run_id", "node_id", "since"),
		ofHouse("lock_waiter", "place", "key", "run_id", "node_id", "woken"),
		ofSession("session", "id", "id", "owner", "name", "webhook_url", "created_at", "updated_at", "version", "body"),
		ofSession("turn", "session_id", "place", "conversation", "key", "model", "session_id", "interrupt_id", "version", "outcome", "begun_at", "body"),
		ofHouse("preview", "owner", "plan_hash", "expires_at", "body"),
		ofHouse("outbox", "place", "id", "session_id", "url", "body", "created_at"),
		ofHouse("inbox", "place", "channel", "id", "reply", "finished", "body"),
		ofHouse("secret", "name", "value"),
		ofHouse("api_key", "id", "hash", "created_at", "revoked_at", "body"),
		ofHouse("domain", "name", "managed_by", "registration", "active_digest", "active_etag", "pending_digest", "pending_etag", "revision",
			"created_at", "updated_at"),
		ofHouse("manifest", "digest", "body"),
	}
}

// Harmless maps each unsealed column to the effect of changing it. No view, gate, answer or
// decision reads these columns, and a change is not detected.
func Harmless() map[string]string {
	const (
		scheduling = "who advances the run and when: it is looked at later, or once more"
		signIn     = "a token is signed with a key that is not here: at most somebody stays signed in until the token's own end, or must sign in again"
		learned    = "it has a MAC by which the server knows its own; another is learned again"
		search     = "a run is missing from a list that is filtered by text or domain, or stands in it; what is shown of it is sealed"
	)
	return map[string]string{
		"run.owner": scheduling, "run.epoch": scheduling, "run.lease_until": scheduling, "run.wake_seq": scheduling,
		"run.handled_seq": scheduling, "run.wake_at": scheduling, "run.parked": scheduling,
		"outbox.attempts": "a notice is sent once more, or later", "outbox.due_at": "a notice is sent once more, or later",
		"inbox.received_at": "a finished message is forgotten later, or sooner",
		"probe.one":         "what is written to find out whether anything can be", "probe.at": "when that was",
		"learned.id": learned, "learned.body": learned, "learned.kept_at": learned,
		"run_search.created_at": search, "run_search.run_id": search, "run_search.goal": search, "run_search.domains": search,
		"sign_in.hash": signIn, "sign_in.seen_at": signIn, "sign_in.until": signIn,
		"seal.logged": "a leaf of the log is written once more, or with the next change",
	}
}

// Checked maps columns that are verified by other means than a seal to these means.
func Checked() map[string]string {
	const roots, seals = "the signed roots", "the rows that it seals"
	return map[string]string{
		"blob.body":  "its hash",
		"seal.scope": seals, "seal.version": seals, "seal.sum": seals, "seal_key.one": seals, "seal_key.id": seals,
		"log_leaf.place": roots, "log_leaf.scope": roots, "log_leaf.body": roots,
		"log_hash.place": roots, "log_hash.hash": roots, "log_root.size": roots, "log_root.body": roots,
	}
}
