// Package telegram lets people use Manifold from Telegram: a thin adapter over
// the same turns as the chat frontends of internal/httpapi. It polls the Bot
// API, keeps what came in until it was answered, and shows answers, progress,
// questions and gates in Telegram's own form. It decides nothing: who may do
// what, what a message means and what an approval is are the orchestrator's.
package telegram
