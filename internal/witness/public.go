package witness

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/manifold-run/manifold/contracts"
)

// algEd25519 is the identifier of Ed25519 in notes.
const algEd25519 = 1

// publicOf returns the public half of "PRIVATE+KEY+name+hash+key".
func publicOf(private string) (string, error) {
	parts := strings.SplitN(private, "+", 5)
	if len(parts) != 5 {
		return "", badKey()
	}
	key, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(key) != 1+ed25519.SeedSize || key[0] != algEd25519 {
		return "", badKey()
	}
	public, ok := ed25519.NewKeyFromSeed(key[1:]).Public().(ed25519.PublicKey)
	if !ok {
		return "", badKey()
	}
	return note.NewEd25519VerifierKey(parts[2], public)
}

func badKey() error { return contracts.Errorf(contracts.CodeInvalid, "a signing key cannot be read") }
