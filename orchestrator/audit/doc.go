// Package audit verifies the hash chains of ledgers, replays a run from its plan and its ledger,
// maintains the transparency log over everything that is stored, and signs its roots.
package audit
