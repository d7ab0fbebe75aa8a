package seal

// Table says which columns of a table are sealed, and under which scope.
type Table struct {
	Name string
	// Scope is an expression; @ stands for the row.
	Scope   string
	Columns []string
}

const (
	ofRun     = `'run:' || @.run_id`
	ofSession = `'session:' || @.session_id`
	// ofRunOrSession is for rows that may stand before a run.
	ofRunOrSession = `CASE WHEN @.run_id <> '' THEN 'run:' || @.run_id ELSE 'session:' || @.session_id END`
	ofHouse        = `'house'`
)

// Tables are all tables that somebody reads who sees, decides or answers.
// What they leave out stands in Harmless.
func Tables() []Table {
	return []Table{
		{"run", `'run:' || @.id`, []string{
			"id", "session_id", "requester", "format", "state", "cancel_requested_at", "cancelled_by",
			"ledger_seq", "ledger_head", "verdict", "created_at", "updated_at", "finished_at",
		}},
		{"plan", ofRun, []string{"run_id", "body"}},
		{"node", ofRun, []string{"place", "run_id", "node_id", "body"}},
		{"interrupt", ofRunOrSession, []string{"place", "id", "session_id", "run_id", "code", "type", "status", "owner", "roles", "domain", "class", "version", "body"}},
		{"intent", ofRun, []string{"place", "run_id", "node_id", "n", "key", "nonce", "operation", "outcome", "consumed", "body"}},
		{"event", ofSession, []string{"session_id", "seq", "run_id", "body"}},
		{"event_seq", ofSession, []string{"session_id", "seq"}},
		{"ledger", ofRun, []string{"run_id", "seq", "body"}},
		{"blob", ofHouse, []string{"sha256", "kind"}}, // the body is what the hash says
		{"blob_name", ofRun, []string{"sha256", "run_id"}},
		{"node_data", ofRun, []string{"run_id", "node_id", "expires_at", "body"}},
		{"held_lock", ofHouse, []string{"key", "run_id", "node_id", "since"}},
		{"lock_waiter", ofHouse, []string{"place", "key", "run_id", "node_id", "woken"}},
		{"session", `'session:' || @.id`, []string{"id", "owner", "name", "webhook_url", "created_at", "updated_at", "version", "body"}},
		{"turn", ofSession, []string{"place", "conversation", "key", "model", "session_id", "interrupt_id", "version", "outcome", "begun_at", "body"}},
		{"preview", ofHouse, []string{"owner", "plan_hash", "expires_at", "body"}},
		{"outbox", ofHouse, []string{"place", "id", "session_id", "url", "body", "created_at"}},
		{"inbox", ofHouse, []string{"place", "channel", "id", "reply", "finished", "body"}},
		{"secret", ofHouse, []string{"name", "value"}},
		{"api_key", ofHouse, []string{"id", "hash", "created_at", "revoked_at", "body"}},
		{"domain", ofHouse, []string{
			"name", "managed_by", "registration", "active_digest", "active_etag", "pending_digest", "pending_etag", "revision", "created_at", "updated_at",
		}},
		{"manifest", ofHouse, []string{"digest", "body"}},
	}
}

// Harmless are the columns that no view, gate, answer or decision reads, with
// what a changed one comes to. Nobody notices a change of them.
func Harmless() map[string]string {
	const scheduling = "who advances the run and when: it is looked at later, or once more"
	return map[string]string{
		"run.owner": scheduling, "run.epoch": scheduling, "run.lease_until": scheduling, "run.wake_seq": scheduling,
		"run.handled_seq": scheduling, "run.wake_at": scheduling, "run.parked": scheduling,
		"outbox.attempts": "a notice is sent once more, or later", "outbox.due_at": "a notice is sent once more, or later",
		"inbox.received_at": "a finished message is forgotten later, or sooner",
		"probe.one":         "what is written to find out whether anything can be", "probe.at": "when that was",
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
