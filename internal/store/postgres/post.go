package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// envelope is a Change with the process that committed it.
type envelope struct {
	Change

	From string `json:"f"`
}

// notifyChannel publishes commits to other processes by LISTEN and NOTIFY, in the transaction of
// the change. A message contains no data, only the keys of what changed.
type notifyChannel struct{ Origin, Channel string }

// The statements that send one payload and several.
const (
	tell    = `SELECT pg_notify($1, $2)`
	tellAll = `SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload`
)

// postOf returns the channel of a process for the tables of one schema.
func postOf(origin, schema string) notifyChannel {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema)) // it never fails
	return notifyChannel{Origin: origin, Channel: fmt.Sprintf("manifold_%x", h.Sum64())}
}

// maxPayload is the maximum size of a NOTIFY payload, in bytes.
const maxPayload = 7900

// Payload encodes a change. If it is too long, the payload says that everything may have changed.
func (p notifyChannel) Payload(c Change) string {
	payload, err := json.Marshal(envelope{Change: c, From: p.Origin})
	if err != nil || len(payload) > maxPayload {
		return fmt.Sprintf(`{"f":%q}`, p.Origin) // receivers must re-read everything
	}
	return string(payload)
}

const (
	// quiet is how long a connection may be silent before it is tested.
	quiet = 5 * time.Second
	// showAgain is the pause before the next attempt to take the advisory lock.
	showAgain = time.Second
	// listenAgain is the maximum pause before the next connection attempt; half of it is random.
	listenAgain = 2 * time.Second
)

// Listen calls heard for each change that another process commits, on a connection of its own,
// until ctx ends. If it may have missed changes, it calls heard with an empty Change: everything
// may have changed. heard must not block.
func (p notifyChannel) Listen(ctx context.Context, server *pgx.ConnConfig, heard func(Change)) {
	for ctx.Err() == nil {
		_ = p.listen(ctx, server, heard) // reconnect, whatever the error is
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain/2 + rand.N(listenAgain/2)): //nolint:gosec // spreads, no secret
		}
	}
}

// listen receives notifications on one connection until it fails.
func (p notifyChannel) listen(ctx context.Context, server *pgx.ConnConfig, heard func(Change)) error {
	conn, err := pgx.ConnectConfig(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // no data is lost with it
	shown, err := p.showAlive(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{p.Channel}.Sanitize()); err != nil {
		return err
	}
	heard(Change{})
	for asked := time.Now(); ; {
		silent, err := p.hear(ctx, conn, heard)
		if err != nil {
			return err
		}
		// Do not wait for silence before taking the lock: notifications may never stop.
		if silent || !shown && time.Since(asked) > showAgain {
			alive, done := context.WithTimeout(ctx, quiet)
			shown, err = p.showAlive(alive, conn)
			done()
			if err != nil {
				return err
			}
			asked = time.Now()
		}
	}
}

// hear waits for one notification. silent reports a timeout, after which the connection should be
// tested.
func (p notifyChannel) hear(ctx context.Context, conn *pgx.Conn, heard func(Change)) (silent bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, quiet)
	defer cancel()
	notice, err := conn.WaitForNotification(waiting)
	if err != nil {
		if ctx.Err() != nil || waiting.Err() == nil || conn.IsClosed() {
			return false, err
		}
		return true, nil
	}
	var n envelope
	if err := json.Unmarshal([]byte(notice.Payload), &n); err != nil {
		n = envelope{} // sent by another release
	}
	if n.From != p.Origin {
		heard(n.Change)
	}
	return false, nil
}
