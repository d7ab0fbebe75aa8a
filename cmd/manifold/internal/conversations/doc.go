// Package conversations plays sets of conversations against a server, running or started by it, and
// grades them. It also implements the models for such a run: one that answers as each item expects,
// one that proposes a write for everything, and one that plays back recordings.
package conversations
