// Package render is what answers, gates and questions look like in Telegram: parts of
// text with their buttons, and as many messages as they need. It sends nothing.
package render
