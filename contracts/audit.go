package contracts

// AuditRoot is a signed root of the audit log, as a note that third parties can verify.
type AuditRoot struct {
	Size int64  `json:"size"`
	Note string `json:"note"`
}

// AuditProof proves that a ledger entry is included under a signed root. Entries is the chain
// from the entry to the one that the leaf covers. Leaf is the log record at index Place, and Path
// is the inclusion path from it to the root, in base64 (RFC 6962).
type AuditProof struct {
	Entries []LedgerEntry `json:"entries"`
	Leaf    string        `json:"leaf"`
	Place   int64         `json:"place"`
	Path    []string      `json:"path"`
	Root    AuditRoot     `json:"root"`
}

// AuditConsistency proves that the log under Root extends the log of From leaves (RFC 6962).
type AuditConsistency struct {
	From int64     `json:"from"`
	Path []string  `json:"path"`
	Root AuditRoot `json:"root"`
}
