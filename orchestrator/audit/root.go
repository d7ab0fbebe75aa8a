package audit

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/manifold-run/manifold/contracts"
)

// origin is the first line of every root: it identifies what is signed.
const origin = "manifold audit log"

// Head is the content of a root: the log had Size leaves with the tree hash Hash at time At.
type Head struct {
	Size int64
	Hash tlog.Hash
	At   time.Time
}

// sign returns the signed root of a head. All signers sign, so that during a key change those who
// know only the old key can still verify.
func (h Head) sign(signers []note.Signer) (Root, error) {
	text := fmt.Sprintf("%s\n%d\n%s\n%s\n", origin, h.Size, base64.StdEncoding.EncodeToString(h.Hash[:]), h.At.UTC().Format(time.RFC3339))
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	return Root{Size: h.Size, Note: string(signed)}, err
}

// OpenRoot verifies the signature of a root and parses it. Its text is a note with the lines
// origin, size, hash in base64 and time.
func OpenRoot(text string, known note.Verifiers) (Head, error) {
	var h Head
	n, err := note.Open([]byte(text), known)
	if err != nil {
		return h, contracts.Errorf(contracts.CodeConflict, "the root is not signed by a known key: %w", err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 5 || lines[0] != origin {
		return h, contracts.Errorf(contracts.CodeInvalid, "this is no root of an audit log")
	}
	var errs [3]error
	h.Size, errs[0] = strconv.ParseInt(lines[1], 10, 64)
	h.Hash, errs[1] = tlog.ParseHash(lines[2])
	h.At, errs[2] = time.Parse(time.RFC3339, lines[3])
	for _, err := range errs {
		if err != nil || h.Size < 0 {
			return h, contracts.Errorf(contracts.CodeInvalid, "this is no root of an audit log: %w", err)
		}
	}
	return h, nil
}

// span is the Merkle tree over leaves that are appended one by one: the hashes of its complete
// subtrees, the largest first.
type span struct {
	size  int64
	peaks []tlog.Hash
}

// add appends a leaf and returns the hashes that it adds, in storage order.
func (s *span) add(record []byte) []tlog.Hash {
	h := tlog.RecordHash(record)
	added := []tlog.Hash{h}
	for n := s.size; n&1 == 1; n >>= 1 {
		h = tlog.NodeHash(s.peaks[len(s.peaks)-1], h)
		s.peaks = s.peaks[:len(s.peaks)-1]
		added = append(added, h)
	}
	s.peaks = append(s.peaks, h)
	s.size++
	return added
}

// root returns the hash of the whole tree.
func (s *span) root() tlog.Hash {
	if s.size == 0 {
		empty, _ := tlog.TreeHash(0, nil) // an empty tree reads no hashes
		return empty
	}
	h := s.peaks[len(s.peaks)-1]
	for i := len(s.peaks) - 2; i >= 0; i-- {
		h = tlog.NodeHash(s.peaks[i], h)
	}
	return h
}
