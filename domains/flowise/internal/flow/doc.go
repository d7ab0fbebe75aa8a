// Package flow represents the graph of a Flowise chatflow. It reads flowData without losing a byte,
// compiles edits (Patch IR) to new flowData, compares and summarizes flows, and finds faults that
// would fail at run time.
//
// A Graph keeps the bytes from which it was read. An edit replaces only the values that it changes.
// Unknown keys, key order and white space are preserved, and an unchanged graph is written byte by
// byte as it was read. All functions are pure: the same graph, edits and node definitions give the
// same bytes and hash.
//
// The package does no I/O and knows no server; the caller passes the node definitions.
package flow
