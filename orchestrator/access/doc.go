// Package access decides who is asking and what they may do: API keys with
// roles and scopes, the one table of actions and roles, who may read what of a
// run, who counts as a second pair of eyes, and how often someone may start a
// session. It does no I/O of its own: keys are kept behind KeyStore.
package access
