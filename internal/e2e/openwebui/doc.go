// Package openwebui runs a real Open WebUI against the server: through its own
// REST API, and in a Chromium as people use it. Both are installed by the
// machine's package managers, so the tests run only when they are asked for:
// make test-openwebui.
package openwebui
