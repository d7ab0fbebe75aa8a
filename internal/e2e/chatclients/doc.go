// Package chatclients runs the official clients of OpenAI's API and of MCP, the AI SDK
// and LangChain against a server. They are installed from npm and PyPI, so the test
// runs only when it is asked for: make test-chat-clients.
package chatclients
