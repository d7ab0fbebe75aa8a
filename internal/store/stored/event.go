package stored

import (
	"cmp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// EventPack is a row with consecutive events of one session.
type EventPack struct {
	SessionID, RunID, Body string
	// Count is the number of events.
	Count int64
}

// mostPacked is the maximum number of events in a row. A page reads at most this many events too
// many.
const mostPacked = 100

// packedEvent omits the fields that are columns of the row: session, run and number.
type packedEvent struct {
	contracts.Event

	SessionID string `json:"session_id,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	Seq       int64  `json:"seq,omitempty"`
}

// PackEvents groups the events of one commit into rows.
func PackEvents(events []contracts.Event) ([]EventPack, error) {
	var packs []EventPack
	for len(events) > 0 {
		first, n := events[0], 1
		for n < min(len(events), mostPacked) && events[n].SessionID == first.SessionID && events[n].RunID == first.RunID {
			n++
		}
		packed := make([]packedEvent, n)
		for i, e := range events[:n] {
			packed[i].Event = e
		}
		body, err := Encode(packed)
		if err != nil {
			return nil, err
		}
		packs = append(packs, EventPack{SessionID: first.SessionID, RunID: first.RunID, Body: body, Count: int64(n)})
		events = events[n:]
	}
	return packs, nil
}

// Events returns the events of a row, whose number is that of its last event. Older rows contain
// a single event.
func (p EventPack) Events(last int64) ([]contracts.Event, error) {
	body := p.Body
	if strings.HasPrefix(body, "{") {
		body = "[" + body + "]"
	}
	events, err := Decode[[]contracts.Event](body)
	for i := range events {
		e := &events[i]
		e.SessionID, e.RunID = p.SessionID, cmp.Or(p.RunID, e.RunID)
		e.Seq = last - int64(len(events)-1-i)
	}
	return events, err
}
