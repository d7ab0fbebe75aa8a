// Package telegramtest is a local Bot API for tests: real HTTP, long polls, updates that repeat until
// they are acknowledged, and Telegram's checks of messages. It can simulate failures.
package telegramtest
