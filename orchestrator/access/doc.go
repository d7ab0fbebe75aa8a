// Package access authenticates callers and authorizes them: API keys with roles and scopes, the
// table of actions and roles, the visibility of runs and gates, the four-eyes rule, and the rate
// limits for new sessions. It does no I/O: keys are stored behind KeyStore.
package access
