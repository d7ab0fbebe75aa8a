package witness

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/manifold-run/manifold/contracts"
)

// Keys are the secret keys that prove a database, current ones first. They are in a separate file,
// so that a person who copies or changes the database does not have them.
type Keys struct {
	// Signing are Ed25519 keys in the note format. Roots are signed with the first two, so that a
	// verifier that knows the previous key can follow a rotation.
	Signing []string `json:"signing"`
	// Sealing are the keys of the seals, Links is the key of approval links.
	Sealing [][]byte `json:"sealing"`
	Links   []byte   `json:"links"`
}

// signer is the name of a signing key in notes.
const signer = "manifold"

// Load reads the keys of a file. If there is none, it creates the file with new keys, readable only
// by its owner, and made is true. The public keys are in the file path.pub.
func Load(path string) (k Keys, made bool, err error) {
	body, err := os.ReadFile(path) //nolint:gosec // the operator says where the keys are
	if errors.Is(err, fs.ErrNotExist) {
		if err := k.renew(); err != nil {
			return k, false, err
		}
		made, err := k.save(path, false)
		if err == nil && !made {
			return Load(path) // another server created it first
		}
		return k, made, err
	}
	if err != nil {
		return k, false, fmt.Errorf("read the audit keys: %w", err)
	}
	if err := json.Unmarshal(body, &k); err != nil || len(k.Signing) == 0 || len(k.Sealing) == 0 || len(k.Links) == 0 {
		return k, false, contracts.Errorf(contracts.CodeInvalid, "the file %s holds no audit keys (%w)", path, errors.Join(err, errors.New("signing, sealing and links are needed")))
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return k, false, contracts.Errorf(contracts.CodeInvalid, "the audit keys in %s can be read by others: chmod 600 %s", path, path)
	}
	return k, false, err
}

// Rotate adds new keys before those of a file. After a restart, a server seals its database with
// them, and signs with the new and the previous key.
func Rotate(path string) (Keys, error) {
	k, made, err := Load(path)
	if err != nil || made {
		return k, err
	}
	if err := k.renew(); err != nil {
		return k, err
	}
	_, err = k.save(path, true)
	return k, err
}

func (k *Keys) renew() error {
	private, _, err := note.GenerateKey(rand.Reader, signer)
	if err != nil {
		return fmt.Errorf("make a signing key: %w", err)
	}
	seal := make([]byte, 32)
	_, _ = rand.Read(seal) // it never returns an error
	k.Signing, k.Sealing = append([]string{private}, k.Signing...), append([][]byte{seal}, k.Sealing...)
	k.Links = make([]byte, 32)
	_, _ = rand.Read(k.Links)
	return nil
}

// save writes the keys. Without over, it keeps an existing file; made reports whether it wrote.
func (k *Keys) save(path string, over bool) (made bool, err error) {
	body, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return false, err
	}
	public, err := k.Public()
	if err != nil {
		return false, err
	}
	if made, err := writeFile(path, append(body, '\n'), 0o600, over); err != nil || !made {
		if err != nil {
			err = fmt.Errorf("write the audit keys: %w", err)
		}
		return made, err
	}
	_, err = writeFile(path+".pub", []byte(strings.Join(public, "\n")+"\n"), 0o644, true)
	return true, err
}

// writeFile writes a file atomically. Without over, it keeps an existing file and made is false.
func writeFile(path string, body []byte, mode fs.FileMode, over bool) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new*")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // a no-op after a rename
	_, err = tmp.Write(body)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return false, err
	}
	if over {
		return true, os.Rename(tmp.Name(), path)
	}
	switch err := os.Link(tmp.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil: // a file system without hard links
		return true, os.Rename(tmp.Name(), path)
	}
	return true, nil
}

// Public returns the public keys that others verify roots with, current one first.
func (k *Keys) Public() ([]string, error) {
	public := make([]string, len(k.Signing))
	for i, private := range k.Signing {
		var err error
		if public[i], err = publicOf(private); err != nil {
			return nil, err
		}
	}
	return public, nil
}

// Signers returns the signers of roots.
func (k *Keys) Signers() ([]note.Signer, error) {
	var signers []note.Signer
	for _, private := range k.Signing[:min(2, len(k.Signing))] {
		s, err := note.NewSigner(private)
		if err != nil {
			return nil, fmt.Errorf("read a signing key: %w", err)
		}
		signers = append(signers, s)
	}
	return signers, nil
}

// Known returns the verifiers of trusted roots.
func (k *Keys) Known() (note.Verifiers, error) {
	public, err := k.Public()
	if err != nil {
		return nil, err
	}
	return Verifiers(public...)
}

// Verifiers returns the verifiers of public keys.
func Verifiers(public ...string) (note.Verifiers, error) {
	var known []note.Verifier
	for _, p := range public {
		v, err := note.NewVerifier(strings.TrimSpace(p))
		if err != nil {
			return nil, contracts.Errorf(contracts.CodeInvalid, "%q is no public key of roots: %w", p, err)
		}
		known = append(known, v)
	}
	return note.VerifierList(known...), nil
}
