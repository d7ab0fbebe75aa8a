// Package mcp connects an MCP server as the source of a bridge: its tools are operations. The server
// gets no model and no folders. Its questions are answered by people only.
package mcp
