// Package chat holds what is special about people who talk through a chat
// frontend: the fixed grammar of commands, the texts that frontends wrap around
// a message, their background tasks, the signed marker that ties a history to
// its session, and the rendering of answers as Markdown. It knows no HTTP and
// decides nothing; an approval is only ever read by its grammar.
package chat
