package app

import "runtime/debug"

// heapGrowth is by how many percent of what lives the heap of a server grows until memory is
// collected. Go's own default is 100.
const heapGrowth = 200

// GrowHeap has this process collect memory less often than Go does by itself, unless the
// environment says how often by GOGC. A limit by GOMEMLIMIT holds in any case.
func GrowHeap(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
