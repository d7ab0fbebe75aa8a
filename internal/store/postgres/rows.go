package postgres

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// rows are what a group adds to the tables, to be sent as one statement for
// each table.
type rows struct {
	nodes    []nodeRow
	place    map[nodeKey]int // of a node in nodes: one statement may touch a row once
	gates    []gateRow
	intents  []intentRow
	consume  []string // nonces
	outcomes []outcomeRow
	events   []eventRow
	ledger   []ledgerRow
	blobs    []blobRow
	names    []nameRow
	data     []dataRow
	mail     []mailRow
	// others are statements about a single row each, which decide by themselves.
	others []statement
}

// statement is one that changes a row of a scope, if it is as the statement says.
type statement struct {
	text, scope string
	args        []any
	done        func(pgconn.CommandTag) error
}

type (
	nodeKey   struct{ runID, nodeID string }
	nodeRow   struct{ runID, nodeID, body string }
	intentRow struct {
		runID, nodeID        string
		n                    int
		key, nonce, op, body string
	}
	outcomeRow struct{ nonce, body string }
	eventRow   struct {
		session, runID, body string
	}
	ledgerRow struct {
		runID string
		seq   int64
		body  string
	}
	blobRow struct {
		hash, kind string
		body       []byte
	}
	nameRow struct{ hash, runID string }
	dataRow struct {
		runID, nodeID string
		expiresAt     int64
		body          []byte
	}
	mailRow struct {
		id, session, url, body string
		createdAt              int64
	}
	gateRow struct {
		id, session, runID, code, kind, status string
		roles                                  string // JSON
		domain, class, body                    string
		createdAt                              int64
	}
)

// addNode stores a node; a later row of the same node replaces it.
func (r *rows) addNode(n nodeRow) {
	if r.place == nil {
		r.place = map[nodeKey]int{}
	}
	key := nodeKey{n.runID, n.nodeID}
	if at, ok := r.place[key]; ok {
		r.nodes[at] = n
		return
	}
	r.place[key] = len(r.nodes)
	r.nodes = append(r.nodes, n)
}

const (
	upsertNodes = `
INSERT INTO node (run_id, node_id, body)
SELECT run_id, node_id, body FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS u (run_id, node_id, body, n) ORDER BY n
ON CONFLICT (run_id, node_id) DO UPDATE SET body = excluded.body`

	insertGates = `
INSERT INTO interrupt (id, session_id, run_id, code, type, status, version, owner, roles, domain, class, created_at, body)
SELECT id, session_id, run_id, code, type, status, 0, coalesce((SELECT s.owner FROM session s WHERE s.id = u.session_id), ''),
  ARRAY(SELECT jsonb_array_elements_text(roles::jsonb)), domain, class, created_at, body
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[])
  WITH ORDINALITY AS u (id, session_id, run_id, code, type, status, roles, domain, class, created_at, body, n) ORDER BY n`

	insertIntents = `
INSERT INTO intent (run_id, node_id, n, key, nonce, operation, outcome, consumed, body)
SELECT run_id, node_id, k, key, nonce, operation, '', false, body
FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[])
  WITH ORDINALITY AS u (run_id, node_id, k, key, nonce, operation, body, n) ORDER BY n`

	consumeIntents = `UPDATE intent SET consumed = true WHERE nonce = ANY($1)`

	updateOutcomes = `
UPDATE intent SET outcome = u.outcome FROM unnest($1::text[], $2::text[]) AS u (nonce, outcome) WHERE intent.nonce = u.nonce`

	// insertEvents numbers the events of each session after its last. $4 is the
	// place of each among those of its session here, $5 and $6 the sessions, in
	// order, with how many each gets.
	insertEvents = `
WITH numbered AS (
  INSERT INTO event_seq (session_id, seq) SELECT session_id, seq FROM unnest($5::text[], $6::bigint[]) AS s (session_id, seq) ORDER BY session_id COLLATE "C"
  ON CONFLICT (session_id) DO UPDATE SET seq = event_seq.seq + excluded.seq
  RETURNING session_id, seq)
INSERT INTO event (session_id, seq, run_id, body)
SELECT e.session_id, last.seq - s.count + e.place, e.run_id, e.body
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS e (session_id, run_id, body, place)
JOIN unnest($5::text[], $6::bigint[]) AS s (session_id, count) ON s.session_id = e.session_id
JOIN numbered last ON last.session_id = e.session_id`

	insertLedger = `INSERT INTO ledger (run_id, seq, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])`

	insertBlobs = `
INSERT INTO blob (sha256, kind, body) SELECT DISTINCT ON (sha256 COLLATE "C") sha256, kind, body
FROM unnest($1::text[], $2::text[], $3::bytea[]) AS u (sha256, kind, body) ORDER BY sha256 COLLATE "C"
ON CONFLICT DO NOTHING`

	insertNames = `
INSERT INTO blob_name (sha256, run_id) SELECT DISTINCT sha256 COLLATE "C", run_id COLLATE "C"
FROM unnest($1::text[], $2::text[]) AS u (sha256, run_id) ORDER BY 1, 2
ON CONFLICT DO NOTHING`

	upsertData = `
INSERT INTO node_data (run_id, node_id, expires_at, body)
SELECT DISTINCT ON (run_id COLLATE "C", node_id COLLATE "C") run_id, node_id, expires_at, body
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) WITH ORDINALITY AS u (run_id, node_id, expires_at, body, n)
ORDER BY run_id COLLATE "C", node_id COLLATE "C", n DESC
ON CONFLICT (run_id, node_id) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`

	insertMail = `
INSERT INTO outbox (id, session_id, url, body, attempts, due_at, created_at)
SELECT id, session_id, url, body, 0, created_at, created_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) WITH ORDINALITY AS u (id, session_id, url, body, created_at, n) ORDER BY n
ON CONFLICT DO NOTHING`
)

// queue sends the rows of each table that gets some.
func (r *rows) queue(b *pgx.Batch) {
	slices.SortStableFunc(r.others, func(x, y statement) int { return cmp.Compare(x.text+x.scope, y.text+y.scope) }) // as any other server does
	for _, o := range r.others {
		b.Queue(o.text, o.args...).Exec(o.done)
	}
	r.queueRuns(b)
	r.queueEvents(b)
	r.queueContents(b)
	if len(r.mail) > 0 {
		b.Queue(insertMail, column(r.mail, func(m mailRow) string { return m.id }), column(r.mail, func(m mailRow) string { return m.session }),
			column(r.mail, func(m mailRow) string { return m.url }), column(r.mail, func(m mailRow) string { return m.body }),
			column(r.mail, func(m mailRow) int64 { return m.createdAt }))
	}
}

func (r *rows) queueRuns(b *pgx.Batch) {
	if len(r.nodes) > 0 {
		b.Queue(upsertNodes, column(r.nodes, func(n nodeRow) string { return n.runID }), column(r.nodes, func(n nodeRow) string { return n.nodeID }),
			column(r.nodes, func(n nodeRow) string { return n.body }))
	}
	if len(r.gates) > 0 {
		b.Queue(insertGates, column(r.gates, func(g gateRow) string { return g.id }), column(r.gates, func(g gateRow) string { return g.session }),
			column(r.gates, func(g gateRow) string { return g.runID }), column(r.gates, func(g gateRow) string { return g.code }),
			column(r.gates, func(g gateRow) string { return g.kind }), column(r.gates, func(g gateRow) string { return g.status }),
			column(r.gates, func(g gateRow) string { return g.roles }), column(r.gates, func(g gateRow) string { return g.domain }),
			column(r.gates, func(g gateRow) string { return g.class }), column(r.gates, func(g gateRow) int64 { return g.createdAt }),
			column(r.gates, func(g gateRow) string { return g.body }))
	}
	if len(r.intents) > 0 {
		b.Queue(insertIntents, column(r.intents, func(i intentRow) string { return i.runID }), column(r.intents, func(i intentRow) string { return i.nodeID }),
			column(r.intents, func(i intentRow) int { return i.n }), column(r.intents, func(i intentRow) string { return i.key }),
			column(r.intents, func(i intentRow) string { return i.nonce }), column(r.intents, func(i intentRow) string { return i.op }),
			column(r.intents, func(i intentRow) string { return i.body }))
	}
	if len(r.consume) > 0 {
		b.Queue(consumeIntents, r.consume)
	}
	if len(r.outcomes) > 0 {
		b.Queue(updateOutcomes, column(r.outcomes, func(o outcomeRow) string { return o.nonce }), column(r.outcomes, func(o outcomeRow) string { return o.body }))
	}
}

func (r *rows) queueEvents(b *pgx.Batch) {
	if len(r.events) > 0 {
		var sessions []string
		counts := map[string]int64{}
		places := make([]int64, len(r.events))
		for i, e := range r.events {
			if counts[e.session] == 0 {
				sessions = append(sessions, e.session)
			}
			counts[e.session]++
			places[i] = counts[e.session]
		}
		b.Queue(insertEvents, column(r.events, func(e eventRow) string { return e.session }), column(r.events, func(e eventRow) string { return e.runID }),
			column(r.events, func(e eventRow) string { return e.body }), places, sessions, column(sessions, func(s string) int64 { return counts[s] }))
	}
	if len(r.ledger) > 0 {
		b.Queue(insertLedger, column(r.ledger, func(e ledgerRow) string { return e.runID }), column(r.ledger, func(e ledgerRow) int64 { return e.seq }),
			column(r.ledger, func(e ledgerRow) string { return e.body }))
	}
}

func (r *rows) queueContents(b *pgx.Batch) {
	if len(r.blobs) > 0 {
		b.Queue(insertBlobs, column(r.blobs, func(x blobRow) string { return x.hash }), column(r.blobs, func(x blobRow) string { return x.kind }),
			column(r.blobs, func(x blobRow) []byte { return x.body }))
	}
	if len(r.names) > 0 {
		b.Queue(insertNames, column(r.names, func(n nameRow) string { return n.hash }), column(r.names, func(n nameRow) string { return n.runID }))
	}
	if len(r.data) > 0 {
		b.Queue(upsertData, column(r.data, func(d dataRow) string { return d.runID }), column(r.data, func(d dataRow) string { return d.nodeID }),
			column(r.data, func(d dataRow) int64 { return d.expiresAt }), column(r.data, func(d dataRow) []byte { return d.body }))
	}
}
