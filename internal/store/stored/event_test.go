package stored_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// Older releases stored one event per row.
func TestARowOfOneEventIsRead(t *testing.T) {
	t.Parallel()
	row := stored.EventPack{SessionID: "ses_1", RunID: "run_1", Body: `{"session_id":"ses_1","run_id":"run_1","seq":0,"at":"2026-11-28T15:15:38.96Z","type":"done","payload":{"n":9007199254740993}}`}
	got, err := row.Events(7)
	if err != nil || len(got) != 1 || got[0].Seq != 7 || got[0].RunID != "run_1" || got[0].Type != contracts.EventDone || string(got[0].Payload) != `{"n":9007199254740993}` {
		t.Errorf("%+v, %v", got, err)
	}
	row.Body = `[{"type":`
	if _, err := row.Events(7); contracts.CodeOf(err) != contracts.CodeInternal {
		t.Errorf("a damaged row: %v", err)
	}
}
