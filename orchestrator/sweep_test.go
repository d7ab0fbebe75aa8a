package orchestrator_test

import (
	"context"
	"testing"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
)

func TestWhatNobodyReadsFromAChannelIsSweptInTheEnd(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	service := o.with(orchestrator.Config{SweepEvery: time.Millisecond, Retention: 30 * 24 * time.Hour}, o.store)
	old, young := time.Now().Add(-31*24*time.Hour), time.Now().Add(-29*24*time.Hour)
	items := []orchestrator.Received{{Channel: "gone", ID: "1", Body: []byte(`{}`), At: old}, {Channel: "gone", ID: "2", Body: []byte(`{}`), At: young}}
	if _, err := o.store.Receive(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	if err := service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := service.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		left, err := o.store.Unfinished(ctx, "gone")
		if err != nil || ctx.Err() != nil {
			t.Fatalf("%+v, %v", left, err)
		}
		if len(left) == 1 && left[0].ID == "2" {
			return
		}
	}
}
