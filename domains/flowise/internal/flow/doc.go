// Package flow is the graph of a Flowise chatflow: it reads flowData without
// losing a byte, compiles edits (Patch IR) into new flowData, tells what
// changed, describes a flow briefly and finds what would fail when it runs.
//
// A Graph keeps the bytes it was read from. An edit replaces only the values
// it changes, so unknown keys, the order of keys and the white space of
// everything else survive, and a graph without an edit is written as it was
// read. Everything is a function of its arguments: the same graph, edits and
// node definitions give the same bytes and the same hash.
//
// The package does no I/O and knows no server: definitions of nodes come from
// the caller.
package flow
