// Package telegram is the Telegram interface of Manifold: a thin adapter over the same turns as the
// chat frontends of internal/httpapi. It polls the Bot API, stores updates until they are answered,
// and shows answers, progress, questions and gates in Telegram's format. It makes no decisions: the
// orchestrator interprets messages, checks permissions and handles approvals.
package telegram
