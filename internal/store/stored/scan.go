package stored

import (
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// Row is a row of a query on any database. The stores select columns in the order in which they
// are scanned here.
type Row interface {
	Scan(dest ...any) error
}

// Text scans a row with one string.
func Text(row Row) (string, error) {
	var s string
	err := row.Scan(&s)
	return s, err
}

// Number scans a row with one integer.
func Number(row Row) (int64, error) {
	var n int64
	err := row.Scan(&n)
	return n, err
}

// ScanDelivery scans a row of the outbox.
func ScanDelivery(row Row) (orchestrator.WebhookDelivery, error) {
	var d orchestrator.WebhookDelivery
	var body string
	var created int64
	err := row.Scan(&d.ID, &d.URL, &body, &d.Attempts, &created)
	d.Body, d.CreatedAt = json.RawMessage(body), Stamp(created)
	return d, err
}

// ScanDomain scans a row of a domain.
func ScanDomain(row Row) (registry.DomainRow, error) {
	var d registry.DomainRow
	var registration string
	var created, updated int64
	err := row.Scan(&d.Name, &d.ManagedBy, &registration, &d.ActiveDigest, &d.ActiveETag, &d.PendingDigest, &d.PendingETag,
		&d.Revision, &created, &updated)
	if registration != "" {
		d.Registration = json.RawMessage(registration)
	}
	d.CreatedAt, d.UpdatedAt = Stamp(created), Stamp(updated)
	return d, err
}

// ScanInterrupt scans a row of an interrupt.
func ScanInterrupt(row Row) (contracts.Interrupt, error) {
	var session, body string
	if err := row.Scan(&session, &body); err != nil {
		return contracts.Interrupt{}, err
	}
	i, err := Decode[contracts.Interrupt](body)
	i.SessionID = session // known only at insertion
	return i, err
}

// ScanReceived scans a row of the inbox.
func ScanReceived(row Row) (orchestrator.InboxMessage, error) {
	var i orchestrator.InboxMessage
	var at int64
	var body string
	err := row.Scan(&i.Channel, &i.ID, &i.Reply, &at, &body)
	i.At, i.Body = Stamp(at), json.RawMessage(body)
	return i, err
}

// ScanKey scans a row of an API key.
func ScanKey(row Row) (access.Key, error) {
	var hash, body string
	var revoked int64
	if err := row.Scan(&hash, &revoked, &body); err != nil {
		return access.Key{}, err
	}
	key, err := Decode[access.Key](body)
	key.Hash, key.RevokedAt = hash, Moment(revoked)
	return key, err
}

// ScanIntent scans a row of an intent.
func ScanIntent(row Row) (execution.Intent, error) {
	var operation, outcome, body string
	var consumed bool
	if err := row.Scan(&operation, &outcome, &consumed, &body); err != nil {
		return execution.Intent{}, err
	}
	i, err := Decode[execution.Intent](body)
	if err != nil {
		return i, err
	}
	i.Operation, i.Consumed, i.Outcome = operation, consumed, nil
	if outcome != "" {
		i.Outcome, err = Decode[*execution.Outcome](outcome)
	}
	return i, err
}

// ScanRun scans a row of a run.
func ScanRun(row Row) (execution.Run, error) {
	var r execution.Run
	var lease, wake, cancelled, created, updated, finished, held int64
	var verdict, plan string
	err := row.Scan(&r.ID, &r.SessionID, &r.Format, &r.State, &r.Owner, &r.Epoch, &lease, &r.WakeSeq, &r.HandledSeq, &wake, &r.Parked,
		&cancelled, &r.CancelledBy, &r.LedgerSeq, &r.LedgerHead, &verdict, &created, &updated, &finished, &held, &plan)
	if err != nil {
		return r, err
	}
	r.LeaseUntil, r.WakeAt, r.CancelRequestedAt = Stamp(lease), Stamp(wake), Moment(cancelled)
	r.CreatedAt, r.UpdatedAt, r.FinishedAt = Stamp(created), Stamp(updated), Moment(finished)
	r.HeldSince = Moment(held)
	if r.Plan, err = Decode[contracts.Plan](plan); err != nil || verdict == "" {
		return r, err
	}
	r.Verdict, err = Decode[*contracts.Verdict](verdict)
	return r, err
}

// ScanNode scans a row of a node.
func ScanNode(row Row) (execution.NodeRecord, error) {
	body, err := Text(row)
	if err != nil {
		return execution.NodeRecord{}, err
	}
	return Decode[execution.NodeRecord](body)
}

// ScanSession scans a row of a session.
func ScanSession(row Row) (orchestrator.Session, error) {
	var name, body string
	var version, updated int64
	if err := row.Scan(&version, &name, &updated, &body); err != nil {
		return orchestrator.Session{}, err
	}
	session, err := Decode[orchestrator.Session](body)
	session.Version, session.Name, session.UpdatedAt = version, name, Stamp(updated)
	return session, err
}

// ScanTurn scans a row of a turn.
func ScanTurn(row Row) (orchestrator.Turn, error) {
	var version int64
	var body string
	if err := row.Scan(&version, &body); err != nil {
		return orchestrator.Turn{}, err
	}
	turn, err := Decode[orchestrator.Turn](body)
	turn.Version = version
	return turn, err
}
