// Package conversations plays sets of conversations against a server, its own or
// one that it starts, and has them graded. It also holds the models that such a
// run can put behind the server: one that answers what each item expects, one
// that proposes a write for everything, and one that plays back recordings.
package conversations
