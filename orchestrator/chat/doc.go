// Package chat implements what is specific to chat frontends: the fixed grammar of commands, the
// unwrapping of messages, the detection of background tasks, the signed marker that ties a history
// to its session, and the rendering of answers as Markdown. It knows no HTTP and decides nothing.
// An approval is only ever read by the fixed grammar.
package chat
