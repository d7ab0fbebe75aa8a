package seal

import "slices"

// Table specifies which columns of a table are sealed, and which of them say what a
// row belongs to.
type Table struct {
	Name    string
	Columns []string
	// run and session are where the columns of the run and of the session stand,
	// -1 for none. A row belongs to its run, one without a run to its session, and
	// one with neither to the global scope.
	run, session int
}

// none is where a column stands that a table has not.
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

// Scope is what a row belongs to, by the values of its sealed columns.
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

// Key is the column by which the rows of one kind of scope are found: RunScope,
// SessionScope or GlobalScope; all rows are in the global scope if there is none. ok is false
// if the table has no rows of the kind.
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

// The scopes: House is the global scope, of what belongs to no run and no session.
const (
	GlobalScope  = "house"
	RunScope     = "run:"
	SessionScope = "session:"
)

// Tables are all tables that somebody reads who sees, decides or answers.
// What they leave out stands in Harmless.
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
		ofHouse("blob", "sha256", "kind"), // the body is what the hash says
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

// Harmless are the columns that no view, gate, answer or decision reads, with
// what a changed one comes to. Nobody notices a change of them.
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

// Checked are the columns that are compared by other means than a seal.
func Checked() map[string]string {
	const roots, seals = "the signed roots", "the rows that it seals"
	return map[string]string{
		"blob.body":  "its hash",
		"seal.scope": seals, "seal.version": seals, "seal.sum": seals, "seal_key.one": seals, "seal_key.id": seals,
		"log_leaf.place": roots, "log_leaf.scope": roots, "log_leaf.body": roots,
		"log_hash.place": roots, "log_hash.hash": roots, "log_root.size": roots, "log_root.body": roots,
	}
}
