// Package mcp puts an MCP server behind a bridge: its tools are operations. The
// server is given nothing: no model, no folders, no answers to forms.
package mcp
