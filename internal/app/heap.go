package app

import "runtime/debug"

// heapGrowth is the GOGC value of a server: the heap may grow by this percentage before a
// collection. Go's default is 100.
const heapGrowth = 200

// GrowHeap sets heapGrowth for this process, unless GOGC is set in the environment. GOMEMLIMIT
// still applies.
func GrowHeap(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
