// Package admission decides which calls may be made now: how many exchanges are in flight in total,
// per domain and per capability, at which rate, which nodes of a run take turns, and who waits for
// which limit. It knows keys and names, but no nodes and no store.
package admission
