package app_test

import (
	"runtime/debug"
	"testing"

	"github.com/manifold-run/manifold/internal/app"
)

// It is the whole process that is set, so this test has it alone.
func TestTheEnvironmentSaysHowTheHeapGrows(t *testing.T) { //nolint:paralleltest // see above
	was := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(was) })
	app.GrowHeap(func(name string) string { return map[string]string{"GOGC": "50"}[name] })
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC is set, and the heap grows by %d percent", got)
	}
	app.GrowHeap(func(string) string { return "" })
	if got := debug.SetGCPercent(100); got != 200 {
		t.Errorf("the heap grows by %d percent", got)
	}
}
