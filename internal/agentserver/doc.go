// Package mcpserver offers Manifold over the Model Context Protocol: reads as
// tools, requests, and what became of them. It is a client of the REST API, in
// the process or from afar, so what a caller may see and do is what the API lets
// them. No tool decides a gate.
package mcpserver
