// Package admission says which calls may be made now: how many exchanges are
// under way in all, at a domain and at a capability, how fast they follow each
// other, which nodes of a run take turns, and who waits for what. It knows keys
// and names, no nodes and no store.
package admission
