// Package bridges plays bridges against MCP servers and OpenAPI documents that others
// have written, and the suite of MCP's own conformance tests and its inspector against
// /mcp. They are installed from npm and PyPI, so the tests run only when they are asked
// for: make test-bridges.
package bridges
