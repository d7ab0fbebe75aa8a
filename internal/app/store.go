package app

import (
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// stores are the ports of the core, whatever keeps what they name.
type stores struct {
	runs interface {
		execution.Store
		orchestrator.GateList
	}
	talk interface {
		orchestrator.Sessions
		orchestrator.Turns
		orchestrator.Previews
		orchestrator.Secrets
	}
	mail interface {
		orchestrator.WebhookOutbox
		orchestrator.Inbox
	}
	directory interface {
		registry.Store
		access.KeyStore
	}
}
