package telegram_test

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// ours counts the goroutines in code of this module; those of connections vary.
func ours(t *testing.T) int {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 2); err != nil {
		t.Fatal(err)
	}
	n := 0
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, "manifold-run/manifold/internal/telegram.") || strings.Contains(stack, "manifold/orchestrator") || strings.Contains(stack, "manifold/execution.") {
			n++
		}
	}
	return n
}

// TestWaitingRunsHoldNoGoroutine is not parallel: it counts the goroutines of the process.
func TestWaitingRunsHoldNoGoroutine(t *testing.T) { //nolint:paralleltest // see above
	w := setup(t)
	ask := func(from, to int) {
		for n := from; n < to; n++ {
			w.rita.Says("set an alert for AAPL above " + strconv.Itoa(300+n))
		}
		w.api.Until(fmt.Sprintf("%d gates are shown", to), func() bool {
			shown := 0
			for _, m := range w.api.Messages(ritaID) {
				if len(m.Buttons) > 0 {
					shown++
				}
			}
			return shown == to
		})
	}
	const few, many = 2, 12
	ask(0, few)
	var before int
	w.api.Until("it is quiet", func() bool { before, _ = ours(t), w.api.Pending(); return w.api.Pending() == 0 && ours(t) == before })
	ask(few, many)
	after := 0
	w.api.Until("it is quiet again", func() bool { after = ours(t); return after <= before })
	t.Logf("%d goroutines of ours with %d waiting runs, %d with %d", before, few, after, many)
	// All of them are still followed.
	for _, i := range gates(w) {
		if i.Status != contracts.InterruptOpen {
			t.Fatalf("%+v", i)
		}
	}
	last := w.api.Messages(ritaID)[0]
	code := strings.Fields(last.Buttons[0].Text)[1]
	w.otto.Says("/gate " + code)
	w.reads(ottoID, code)
	w.otto.Says("approve " + code)
	w.reads(ritaID, "verified")
}
