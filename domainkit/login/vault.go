package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/manifold-run/manifold/contracts"
)

// Vault encrypts with its first key and decrypts with any of them, so that keys can be rotated. A
// vault without keys does not encrypt files. It is safe for concurrent use.
type Vault struct{ aeads []cipher.AEAD }

// NewVault derives keys for one purpose from keys of at least 32 bytes. Data sealed for one purpose
// cannot be opened for another.
func NewVault(keys [][]byte, purpose string) (v Vault, err error) {
	for _, key := range keys {
		if len(key) < 32 {
			return v, contracts.Errorf(contracts.CodeInvalid, "a key has fewer than 32 bytes")
		}
		derived, err := hkdf.Key(sha256.New, key, nil, "manifold: "+purpose, 32)
		if err != nil {
			return v, err
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return v, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return v, err
		}
		v.aeads = append(v.aeads, aead)
	}
	return v, nil
}

// Seal encrypts plain and authenticates about, which Open needs again. It panics if the vault has
// no key.
func (v Vault) Seal(plain []byte, about string) []byte {
	return v.aeads[0].Seal(nil, nil, plain, []byte(about)) //nolint:gosec // this cipher draws its nonces itself
}

// Open decrypts; ok is false if no key fits or about differs.
func (v Vault) Open(sealed []byte, about string) (plain []byte, ok bool) {
	for _, aead := range v.aeads {
		if plain, err := aead.Open(nil, nil, sealed, []byte(about)); err == nil {
			return plain, true
		}
	}
	return nil, false
}

// sealedFile is the content of an encrypted file. It is bound to the name of its file.
type sealedFile struct {
	Sealed []byte `json:"sealed"`
}

// Save encodes a value as JSON and replaces file atomically, with mode 0600.
func (v Vault) Save(file string, value any) error {
	raw, err := json.Marshal(value)
	if err == nil && len(v.aeads) > 0 {
		raw, err = json.Marshal(sealedFile{v.Seal(raw, filepath.Base(file))})
	}
	if err != nil {
		return err
	}
	return writeFile(file, raw, os.Rename)
}

// Load decodes a file of Save; plain reports that it was not encrypted.
func (v Vault) Load(file string, value any) (plain bool, err error) {
	raw, err := os.ReadFile(file) //nolint:gosec // an operator names the file, or its name is a hash
	if err != nil {
		return false, err
	}
	var s sealedFile
	if json.Unmarshal(raw, &s) != nil || len(s.Sealed) == 0 {
		return true, contracts.DecodeStrict(raw, value)
	}
	raw, ok := v.Open(s.Sealed, filepath.Base(file))
	if !ok {
		return false, contracts.Errorf(contracts.CodeUnauthorized, "it is encrypted with another key")
	}
	return false, contracts.DecodeStrict(raw, value)
}

// KeyIn returns the key in a file. It creates a random one if the file does not exist; made reports
// that.
func KeyIn(file string) (key []byte, made bool, err error) {
	key, err = os.ReadFile(file) //nolint:gosec // an operator names the folder
	if !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	key = make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	err = writeFile(file, key, os.Link)
	if errors.Is(err, fs.ErrExist) { // another process created it first
		key, err = os.ReadFile(file) //nolint:gosec // as above
		return key, false, err
	}
	return key, err == nil, err
}

// writeFile writes a temporary file and moves it into place with put, so that a crash leaves the
// old or the new file.
func writeFile(file string, raw []byte, put func(from, to string) error) error {
	next, err := os.CreateTemp(filepath.Dir(file), ".token-*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(raw)
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = put(next.Name(), file)
	}
	if gone := os.Remove(next.Name()); err != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
