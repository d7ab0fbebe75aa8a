// Package render formats answers, gates and questions for Telegram: parts of text with buttons, packed
// into messages. It sends nothing.
package render
