// Package telegramtest is a Bot API on this machine, for tests: real HTTP, long
// polls that wait, updates that come again until they are acknowledged, and the
// checks of messages that Telegram makes. It can be told to fail.
package telegramtest
