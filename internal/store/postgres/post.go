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

// envelope is a Change with the process that made it.
type envelope struct {
	Change

	From string `json:"f"`
}

// notifyChannel publishes commits to other processes by LISTEN and NOTIFY, in the
// transaction that makes the change. A message has no content, only where to look.
type notifyChannel struct{ Origin, Channel string }

// The statements that tell: of one payload, and of several.
const (
	tell    = `SELECT pg_notify($1, $2)`
	tellAll = `SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload`
)

// postOf is the post of a process for the tables of one schema.
func postOf(origin, schema string) notifyChannel {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema)) // it never fails
	return notifyChannel{Origin: origin, Channel: fmt.Sprintf("manifold_%x", h.Sum64())}
}

// maxPayload is what a NOTIFY may carry.
const maxPayload = 7900

// Payload writes a change as it is told.
func (p notifyChannel) Payload(c Change) string {
	payload, err := json.Marshal(envelope{Change: c, From: p.Origin})
	if err != nil || len(payload) > maxPayload {
		return fmt.Sprintf(`{"f":%q}`, p.Origin) // look everywhere
	}
	return string(payload)
}

const (
	// quiet is how long a connection may say nothing before it is asked whether
	// it lives.
	quiet = 5 * time.Second
	// showAgain is the pause before the next try to show that this server lives.
	showAgain = time.Second
	// listenAgain is the pause before the next try to connect, half of it by chance.
	listenAgain = 2 * time.Second
)

// Listen calls heard for each change that another process commits, over a
// connection of its own, until ctx ends. When it may have missed some, it tells
// that everything may have changed. heard must be quick.
func (p notifyChannel) Listen(ctx context.Context, server *pgx.ConnConfig, heard func(Change)) {
	for ctx.Err() == nil {
		_ = p.listen(ctx, server, heard) // whatever the reason, the next connection is the remedy
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain/2 + rand.N(listenAgain/2)): //nolint:gosec // spreads, no secret
		}
	}
}

// listen hears what comes over one connection.
func (p notifyChannel) listen(ctx context.Context, server *pgx.ConnConfig, heard func(Change)) error {
	conn, err := pgx.ConnectConfig(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is lost with it
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
		// There may always be something to hear: it is not waited for silence to show that
		// this server lives.
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

// hear waits for one notice; silent tells that there was none, so that nobody knows
// whether the connection lives.
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
		n = envelope{} // of another release
	}
	if n.From != p.Origin {
		heard(n.Change)
	}
	return false, nil
}
