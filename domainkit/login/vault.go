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

// Vault encrypts with the first of its keys and decrypts with all of them, so that keys
// can be changed. One without keys leaves files as they are.
type Vault struct{ aeads []cipher.AEAD }

// NewVault derives the keys for a purpose; what is sealed for one is not opened for another.
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

// Seal encrypts; it is opened only with the same words about it.
func (v Vault) Seal(plain []byte, about string) []byte {
	return v.aeads[0].Seal(nil, nil, plain, []byte(about)) //nolint:gosec // this cipher draws its nonces itself
}

// Open decrypts; ok is false where no key opens it.
func (v Vault) Open(sealed []byte, about string) (plain []byte, ok bool) {
	for _, aead := range v.aeads {
		if plain, err := aead.Open(nil, nil, sealed, []byte(about)); err == nil {
			return plain, true
		}
	}
	return nil, false
}

// sealedFile is a file that only the keys open. What is sealed for one file is not
// taken from another.
type sealedFile struct {
	Sealed []byte `json:"sealed"`
}

// Save writes a value into a file, whole, or leaves it as it was. Only its owner may
// read it.
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

// Load reads what Save has written; plain tells that it was not encrypted.
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

// KeyIn is the key in a file, which is made if it is not there.
func KeyIn(file string) (key []byte, made bool, err error) {
	key, err = os.ReadFile(file) //nolint:gosec // an operator names the folder
	if !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	key = make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	err = writeFile(file, key, os.Link)
	if errors.Is(err, fs.ErrExist) { // another process was first
		key, err = os.ReadFile(file) //nolint:gosec // as above
		return key, false, err
	}
	return key, err == nil, err
}

// writeFile writes a file beside its place and puts it there, so that a crash leaves the
// old or the new one.
func writeFile(file string, raw []byte, put func(from, to string) error) error {
	next, err := os.CreateTemp(filepath.Dir(file), ".token-*") // made with mode 0600
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
